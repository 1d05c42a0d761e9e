// The entries of a snapshot as texts, before they are stored: one target after the other, as these may be large.

import type { Packer } from '../../objects/cluster.ts';
import { isObject } from '../../objects/json.ts';
import { turnFor } from '../../objects/requests/loop-turns.ts';
import type { SnapshotEntry } from '../model/entry.ts';
import { type Encoded, encodeEntry, linesOf } from '../snapshots/codec.ts';
import type { Observation, Prepared } from './observation.ts';

/** The texts to store, and their names; another step stores nothing. */
type Storing =
  | { readonly kind: 'store'; readonly targets: readonly Prepared[]; readonly name: string }
  | { readonly kind: string };

export async function encodedFor(
  step: Storing,
  { transaction }: Pick<Observation, 'transaction'>,
  packer: Packer,
): Promise<readonly Encoded[]> {
  if (!('targets' in step)) return [];
  const encoded: Encoded[] = [];
  for (const target of step.targets) {
    const entry = entryOf(target);
    const turn = () => turnFor(target.prior, target.expected);
    const lines: string[] = [];
    for (const line of linesOf(entry)) {
      lines.push(line);
      await turn();
    }
    encoded.push(encodeEntry(entry, { transaction, base: step.name }, packer, lines.join('\n')));
  }
  return encoded;
}

function restoresOf({ type }: Prepared['resolved']['change']): Pick<SnapshotEntry, 'restores'> {
  return type === 'Restore' ? { restores: true } : {};
}

/** The entry of a target in the snapshot. */
export function entryOf({ resolved, way, prior, expected, approximate, ...how }: Prepared): SnapshotEntry {
  const { change } = resolved;
  const { deferred, isPriorRefused, recreates, keepsScale } = how;
  const { group, version, plural, kind, namespaced, statusSubresource } = resolved.resource;
  return {
    index: resolved.index,
    type: way,
    target: resolved.target,
    resource: { group, version, plural, kind, namespaced, statusSubresource },
    ...(prior === undefined ? {} : { prior }),
    ...(expected === undefined ? {} : { expected }),
    approximate,
    ...(deferred === true ? { deferred } : {}),
    ...(isPriorRefused === true ? { isPriorRefused } : {}),
    ...(recreates === true ? { recreates } : {}),
    ...restoresOf(change),
    ...(keepsScale === undefined ? {} : { keepsScale }),
    ...(change.contentFrom !== undefined && isObject(change.content) ? { content: change.content } : {}),
  };
}
