// Who holds a Lease, and for how long. Times follow the API server's clock.
import { at, type JsonObject, textAt } from '../../objects/json.ts';
import { parseTime, serverTimeResolution } from '../../objects/time.ts';

export type LeaseState =
  | 'free'
  | 'ours'
  /** Ours, with less than half of its duration left, or expired: we renew it and continue. */
  | 'fading'
  | 'expired'
  | 'heldByOther';

export function leaseState(lease: JsonObject | undefined, holder: string, now: number): LeaseState {
  if (lease === undefined) return 'free';
  const heldBy = textAt(lease, 'spec', 'holderIdentity') ?? '';
  const [life, age] = [lifeOf(lease), ageOf(lease, now)];
  if (heldBy === holder) return age > life / 2 ? 'fading' : 'ours';
  return heldBy === '' || age > life + serverTimeResolution ? 'expired' : 'heldByOther';
}

/** `namespace/name`: the uid in a holder means nothing to people. */
export function readableHolder(holder: string): string {
  return holder.split('/').slice(0, 2).join('/');
}

/** ms until the Lease expires for its holder. Other Transactions wait `serverTimeResolution` longer, so this time is on the safe side. */
export function lifeLeft(lease: JsonObject, now: number): number {
  return lifeOf(lease) - ageOf(lease, now);
}

/** ms until the Lease should be renewed; negative if that moment has passed. */
export function halfLifeLeft(lease: JsonObject, now: number): number {
  return lifeOf(lease) / 2 - ageOf(lease, now);
}

export function ageOf(lease: JsonObject, now: number): number {
  return now - (parseTime(textAt(lease, 'spec', 'renewTime')) ?? 0);
}

function lifeOf(lease: JsonObject): number {
  const seconds = at(lease, 'spec', 'leaseDurationSeconds');
  return typeof seconds === 'number' ? seconds * 1000 : 0;
}
