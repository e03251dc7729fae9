import { useSignal } from '@preact/signals';
import { percent } from '../../text/numbers.js';
import { type SideNames, USERS_AND_ITEMS } from '../../text/sides.js';
import { thin } from '../actions.js';
import { SHARES } from '../estimate.js';
import type { Shares } from '../protocol.js';
import { opened } from '../state.js';
import { Button, Select } from './controls.js';

/** Fields for the share of each side that is kept. */
export function ShareFields({
  names = USERS_AND_ITEMS,
  shares,
  onChange,
}: {
  readonly names?: SideNames;
  readonly shares: Shares;
  onChange(shares: Shares): void;
}) {
  return (
    <div class="fields">
      {(['users', 'items'] as const).map((side) => (
        <Select
          key={side}
          label={`Share of ${names[side].many} to keep`}
          value={String(shares[side])}
          choices={[...new Set([...SHARES, shares[side]])].map((share) => [
            String(share),
            share === 1 ? 'all' : percent(share),
          ])}
          onChange={(share) => onChange({ ...shares, [side]: Number(share) })}
        />
      ))}
    </div>
  );
}

export function ThinningWords({ names = USERS_AND_ITEMS }: { readonly names?: SideNames }) {
  return (
    <p>
      A random choice of {names.users.many} and {names.items.many} leaves a smaller table of the same kind: it
      is sparse if the whole table is sparse. The first rows would not show that.
    </p>
  );
}

/** Offers to continue with a random part of the data. */
export function Thinning() {
  const data = opened.value;
  const shares = useSignal<Shares>(data?.kept ?? { users: 1, items: 1 });
  if (!data) return null;
  const again = data.passedOver !== undefined;
  return (
    <details>
      <summary>{again ? 'Use a larger or smaller part' : 'Use a part of the data'}</summary>
      <ThinningWords names={data.names} />
      <ShareFields
        names={data.names}
        shares={shares.value}
        onChange={(next) => {
          shares.value = next;
        }}
      />
      <p class="buttons">
        <Button waits onClick={() => void thin(shares.value.users, shares.value.items)}>
          {again ? 'Read and check again' : 'Keep this part and check again'}
        </Button>
      </p>
    </details>
  );
}
