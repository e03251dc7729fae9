// The controls of the page: buttons, choices and files.

import type { Signal } from '@preact/signals';
import type { ComponentChildren, ComponentProps } from 'preact';
import { work } from '../work.js';

export function set<T>(signal: Signal<T>, value: T): void {
  signal.value = value;
}

/** A listener that keeps the text of a field in a signal. */
export const into =
  (text: Signal<string>) => (event: { readonly currentTarget: { readonly value: string } }) =>
    set(text, event.currentTarget.value);

/** `waits`: it cannot be clicked while something is computed. */
export function Button({
  waits,
  disabled,
  ...rest
}: ComponentProps<'button'> & { readonly waits?: boolean }) {
  return <button type="button" disabled={disabled || (waits && work.value !== undefined)} {...rest} />;
}

/** A form that the page handles itself. */
export function Form({
  onSubmit,
  ...rest
}: Omit<ComponentProps<'form'>, 'onSubmit'> & { readonly onSubmit?: () => void }) {
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit?.();
      }}
      {...rest}
    />
  );
}

export function Checkbox({
  checked,
  onChange,
  children,
}: {
  readonly checked: boolean;
  onChange(checked: boolean): void;
  readonly children: ComponentChildren;
}) {
  return (
    <label>
      <input type="checkbox" checked={checked} onChange={(event) => onChange(event.currentTarget.checked)} />
      {children}
    </label>
  );
}

/** One of some values. `inline`: the label stands in one line with its choices. */
export function Select<V extends string>({
  label,
  value,
  choices,
  about,
  inline,
  onChange,
}: {
  readonly label: string;
  readonly value: V;
  readonly choices: readonly (readonly [value: V, title: string])[];
  readonly about?: ComponentChildren;
  readonly inline?: boolean;
  onChange(value: V): void;
}) {
  return (
    <label class={inline ? 'inline' : undefined}>
      {inline ? `${label} ` : <span>{label}</span>}
      <select value={value} onChange={(event) => onChange(event.currentTarget.value as V)}>
        {choices.map(([one, title]) => (
          <option value={one} key={one}>
            {title}
          </option>
        ))}
      </select>
      {about && <small>{about}</small>}
    </label>
  );
}

export const TABLES = '.csv,.tsv,.txt,.dat,.jsonl,.ndjson,.parquet,.gz';

/** Takes a file: a label that can be clicked, and a field that only the keyboard reaches. */
export function FileField({
  accept = TABLES,
  waits,
  onFile,
  children,
  ...label
}: Omit<ComponentProps<'label'>, 'accept'> & {
  readonly accept?: string;
  readonly waits?: boolean;
  onFile(file: File): void;
}) {
  return (
    <label {...label}>
      <input
        type="file"
        accept={accept}
        disabled={waits && work.value !== undefined}
        onChange={({ currentTarget: field }) => {
          const [file] = field.files ?? [];
          if (file) onFile(file);
          field.value = '';
        }}
      />
      {children}
    </label>
  );
}

export function Fact({ name, value }: { readonly name: ComponentChildren; readonly value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}
