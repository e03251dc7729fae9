import type { JsonSchema } from '../../options/schema.js';
import { capital } from '../../text/phrases.js';
import { change, type Settings, settings } from '../state.js';

/** A number of the settings, with the meaning and the bounds that the library declares for it. */
export function NumberOption({
  name,
  label,
  schema,
  step = 1,
  about,
}: {
  readonly name: keyof Settings;
  readonly label: string;
  readonly schema: JsonSchema;
  readonly step?: number;
  /** Instead of the declared meaning. */
  readonly about?: string;
}) {
  const { minimum, exclusiveMinimum, maximum, exclusiveMaximum, description } = schema as Readonly<
    Record<string, never>
  >;
  const least = minimum ?? (exclusiveMinimum === undefined ? undefined : exclusiveMinimum + step);
  const most = maximum ?? (exclusiveMaximum === undefined ? undefined : exclusiveMaximum - step);
  return (
    <label>
      <span>{label}</span>
      <input
        type="number"
        min={least}
        max={most}
        step={step}
        required
        value={settings.value[name] as number}
        onChange={(event) => {
          if (event.currentTarget.reportValidity()) {
            change({ [name]: event.currentTarget.valueAsNumber } as Partial<Settings>);
          }
        }}
      />
      <small>{about ?? capital(String(description ?? ''))}</small>
    </label>
  );
}

export function ChoiceOption({
  name,
  label,
  choices,
  about,
}: {
  readonly name: keyof Settings;
  readonly label: string;
  readonly choices: readonly (readonly [string, string])[];
  readonly about: string;
}) {
  return (
    <label>
      <span>{label}</span>
      <select
        value={String(settings.value[name])}
        onChange={(event) => change({ [name]: event.currentTarget.value } as Partial<Settings>)}
      >
        {choices.map(([value, title]) => (
          <option value={value} key={value}>
            {title}
          </option>
        ))}
      </select>
      <small>{about}</small>
    </label>
  );
}
