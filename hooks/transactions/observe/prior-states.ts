// Reads which state of an object another Transaction found before its change. The engine reads it only if the versions do not show
// which of the two changes came first: an answer of one of them was lost, or its process died before it recorded the answer.
import { identityOf, type Reference } from '../../objects/reference.ts';
import { holderNamed } from '../locks/holder.ts';
import { isOrdered, type OtherChange, type PriorState } from '../model/other-transactions.ts';
import { decodeTransaction, type Transaction } from '../model/transaction.ts';
import { engine, transactions } from '../writes/resources.ts';
import type { Presence } from './observation.ts';
import { read } from './read.ts';
import { readSnapshot, type SnapshotSource } from './snapshot.ts';

type Trouble = Extract<Presence, { kind: 'trouble' }>;

/** The changes to the target, each with the state before it if its place in the order is unknown. `version`: of our change. */
export async function withPriorStates(
  source: SnapshotSource,
  target: Reference,
  version: string | undefined,
  changes: readonly OtherChange[],
): Promise<readonly OtherChange[] | Trouble> {
  const known: OtherChange[] = [];
  for (const change of changes) {
    const isClear = !change.stands || isOrdered(change, version);
    const found = isClear ? change : await withPriorState(source, target, change);
    if ('kind' in found) return found;
    known.push(found);
  }
  return known;
}

async function withPriorState(source: SnapshotSource, target: Reference, change: OtherChange): Promise<OtherChange | Trouble> {
  const { namespace = '', name = '', uid } = holderNamed(change.holder) ?? {};
  const found = await read(source.reader, { resource: transactions, namespace, name }, engine);
  if (found.kind === 'trouble') return found;
  const other = found.kind === 'present' ? decodeTransaction(found.object) : undefined;
  if (other === undefined || other.uid !== uid) return { ...change, stands: false };
  const before = await priorStateIn(source, target, other);
  return before.kind === 'trouble' ? before : { ...change, before };
}

// The snapshot is authentic, or it counts as unreadable (observe/snapshot.ts).
async function priorStateIn(source: SnapshotSource, target: Reference, other: Transaction): Promise<PriorState | Trouble> {
  const snapshot = await readSnapshot(source, other, other.status?.rollbackRef);
  if (snapshot.kind === 'trouble') return snapshot;
  if (snapshot.kind === 'broken') return { kind: 'unknown', why: snapshot.message };
  const entry = snapshot.entries.find((one) => identityOf(one.target) === identityOf(target));
  return entry === undefined
    ? { kind: 'unknown', why: 'its snapshot has no entry for the object' }
    : { kind: 'known', prior: entry.prior };
}
