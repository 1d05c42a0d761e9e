// Every kind of bad Transaction.
import { contents } from './contents.ts';
import { accounts, counts } from './counts.ts';
import { manifests } from './manifests.ts';
import { names } from './names.ts';
import type { BadTransaction, Place } from './specs.ts';
import { targets } from './targets.ts';

export function badTransactions(place: Place): readonly BadTransaction[] {
  return [...names, ...contents, ...counts, ...accounts, ...manifests, ...targets(place)];
}
