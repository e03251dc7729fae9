import { useSignal } from '@preact/signals';
import { SIDES } from '../../graph/graph.js';
import { percent } from '../../text/numbers.js';
import { thin } from '../actions.js';
import { SHARES } from '../estimate.js';
import type { Shares } from '../protocol.js';
import { names, opened } from '../state.js';
import { Button, Select, set } from './controls.js';

/** What thinning does, and fields for the share of each side that is kept. */
export function ShareFields({
  shares,
  onChange,
}: {
  readonly shares: Shares;
  onChange(shares: Shares): void;
}) {
  const { users, items } = names.value;
  return (
    <>
      <p>
        A random choice of {users.many} and {items.many} leaves a smaller table of the same kind: it is sparse
        if the whole table is sparse. The first rows would not show that.
      </p>
      <div class="fields">
        {SIDES.map((side) => (
          <Select
            key={side}
            label={`Share of ${names.value[side].many} to keep`}
            value={String(shares[side])}
            choices={[...new Set([...SHARES, shares[side]])].map((share) => [
              String(share),
              share === 1 ? 'all' : percent(share),
            ])}
            onChange={(share) => onChange({ ...shares, [side]: Number(share) })}
          />
        ))}
      </div>
    </>
  );
}

export function Thinning() {
  const data = opened.value;
  const shares = useSignal<Shares>(data?.kept ?? { users: 1, items: 1 });
  if (!data) return null;
  const again = data.passedOver !== undefined;
  return (
    <details>
      <summary>{again ? 'Use a larger or smaller part' : 'Use a part of the data'}</summary>
      <ShareFields shares={shares.value} onChange={(next) => set(shares, next)} />
      <p class="buttons">
        <Button waits onClick={() => void thin(shares.value.users, shares.value.items)}>
          {again ? 'Read and check again' : 'Keep this part and check again'}
        </Button>
      </p>
    </details>
  );
}
