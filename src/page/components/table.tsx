import type { ComponentChildren } from 'preact';

export interface Cells {
  readonly columns: readonly {
    readonly label: string;
    /** Replaces the label, for instance by a link. */
    readonly head?: ComponentChildren;
    readonly numeric?: boolean;
    /** Whether its cells may take several lines. */
    readonly wraps?: boolean;
  }[];
  readonly rows: readonly (readonly ComponentChildren[])[];
}

export const numbers = (...labels: readonly string[]) => labels.map((label) => ({ label, numeric: true }));

export function Table({
  columns,
  rows,
  caption,
  tight,
  label = caption ?? 'Table',
}: Cells & {
  readonly caption?: string;
  /** Whether the cells wrap and the letters are smaller on a phone, so that all columns are in view. */
  readonly tight?: boolean;
  /** What a screen reader calls it. */
  readonly label?: string;
}) {
  const kind = (c: number) => {
    const { numeric, wraps } = columns[c] ?? {};
    return numeric ? `number${wraps ? ' wraps' : ''}` : undefined;
  };
  return (
    <section class={`scroll${tight ? ' tight' : ''}`} tabIndex={0} aria-label={label}>
      <table>
        {caption && (
          <caption>
            <span>{caption}</span>
          </caption>
        )}
        <thead>
          <tr>
            {columns.map(({ label, head = label }, c) => (
              <th scope="col" class={kind(c)} key={label}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, r) => (
            <tr key={r}>
              {row.map((cell, c) =>
                c === 0 ? (
                  <th scope="row" class={kind(c)} key={c}>
                    {cell}
                  </th>
                ) : (
                  <td class={kind(c)} key={c}>
                    {cell}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
