import { useSignal } from '@preact/signals';
import { percent } from '../../text/numbers.js';
import { thin } from '../flow.js';
import { opened } from '../state.js';
import { work } from '../work.js';

const SHARES = [1, 0.7, 0.5, 0.3, 0.2, 0.1];

/** A smaller table of the same kind: coins for users and items, instead of the first rows. */
export function Thinning() {
  const data = opened.value;
  const users = useSignal(data?.kept?.users ?? 1);
  const items = useSignal(data?.kept?.items ?? 1);
  if (!data) return null;
  const { names } = data;
  const choose = (side: 'users' | 'items', value: typeof users) => (
    <label>
      <span>Of the {names[side].many} keep</span>
      <select
        value={String(value.value)}
        onChange={(event) => {
          value.value = Number(event.currentTarget.value);
        }}
      >
        {SHARES.map((share) => (
          <option value={String(share)} key={share}>
            {share === 1 ? 'all' : percent(share)}
          </option>
        ))}
      </select>
    </label>
  );
  return (
    <details>
      <summary>Work with a part of it</summary>
      <p>
        A coin for each of the {names.users.many} and each of the {names.items.many} leaves a smaller table of
        the same kind, sparse where the whole is sparse. The first rows would not.
      </p>
      <div class="fields">
        {choose('users', users)}
        {choose('items', items)}
      </div>
      <p class="buttons">
        <button
          type="button"
          disabled={work.value !== undefined}
          onClick={() => void thin(users.value, items.value)}
        >
          Thin and check again
        </button>
      </p>
    </details>
  );
}
