// Several Transactions over common objects: each is committed when the one before has ended, then they are undone, in any order.
import type { JsonObject } from '../../../hooks/objects/json.ts';
import type { ChangeType, Kind, Write } from '../../generated/arbitraries.ts';

export interface PlannedChange {
  readonly type: ChangeType;
  /** It deletes its object and creates it again, if the content is not possible in place. */
  readonly recreates?: boolean;
  /** Unused for a Delete. */
  readonly content: JsonObject;
}

/** One object, and what each Transaction does to it; undefined where one leaves it alone. */
export interface Subject {
  readonly kind: Kind;
  /** How it came to be; undefined when the first change creates it. */
  readonly origin: JsonObject | undefined;
  readonly history: readonly Write[];
  readonly changes: readonly (PlannedChange | undefined)[];
}

export interface Orders {
  /** `spec.fieldManager` of each Transaction; undefined where each Apply writes under the Transaction's own. */
  readonly fieldManagers: readonly (string | undefined)[];
  readonly subjects: readonly Subject[];
  /** Which Transaction is undone first, second, ...; each once. */
  readonly undos: readonly number[];
}

export function transactionsOf({ subjects }: Orders): number {
  return subjects[0]?.changes.length ?? 0;
}
