// The invariants that a program can check, checked where requests leave: the last code before the port. They hold by construction;
// a write that would break one is a fault of the engine. Such a write is not sent.
//
// Checked are I2 and I8 (stored, announced), I3 (uid and version), I5 (named targets, Leases, snapshots), I11 (as whom) and I17 (not
// behind a gate): docs/architecture.md states them.
//
// The checks read the Transaction, the status that was found stored, and the request. They read nothing that an earlier stage has
// computed, except the index of the change that the step is about.
import type { Location, Write, Writer } from '../../objects/cluster.ts';
import type { Outcome, Writes } from '../../objects/mutation.ts';
import { groupOf, lockPrefix } from '../../objects/reference.ts';
import { perform } from '../../objects/requests/perform.ts';
import { firstBarred } from '../model/gated.ts';
import { InvariantError, type WriteContext } from '../model/invariant.ts';
import type { Item } from '../model/item.ts';
import type { Status } from '../model/status.ts';
import type { Transaction } from '../model/transaction.ts';
import { configMaps, leases, transactions } from '../writes/resources.ts';

/**
 * Performs the writes of a step. Throws InvariantError for a write that breaks an invariant, and sends nothing from there on:
 * nothing at all, if one of the writes that are known at the beginning breaks it.
 */
export async function performChecked(writes: Writes, writer: Writer, context: WriteContext): Promise<Outcome> {
  for (const write of firstWrites(writes)) checkWrite(write, context);
  const send: Writer['send'] = async (write, isLate) => {
    checkWrite(write, context);
    return writer.send(write, isLate);
  };
  return perform(writes, { send });
}

function firstWrites(writes: Writes): readonly Write[] {
  if (writes.kind === 'nothing') return [];
  return writes.kind === 'chain' ? [writes.mutation.write] : writes.mutations.map(({ write }) => write);
}

function checkWrite(write: Write, context: WriteContext): void {
  hold('I3', namesVersion(write), 'a write names no version');
  if (write.identity.kind === 'engine') checkOwn(write, context);
  else checkTarget(write, context);
}

function checkOwn({ location, verb }: Write, { transaction, engineNamespace, isSnapshot }: WriteContext): void {
  const { namespace, name } = location;
  const isLease = isKind(location, leases) && namespace === engineNamespace && name.startsWith(lockPrefix);
  const isPart = isKind(location, configMaps) && namespace === transaction.namespace && isSnapshot(name);
  const isItself = isKind(location, transactions) && namespace === transaction.namespace && name === transaction.name;
  const isOwnKind = [leases, configMaps, transactions].some((kind) => isKind(location, kind));
  hold('I11', isOwnKind, 'the engine writes an object of another kind than its own as itself');
  hold('I5', isLease || isPart || (isItself && verb === 'delete'), 'the engine writes an object that is not its own');
}

function checkTarget({ identity, location }: Write, { transaction, stored, about }: WriteContext): void {
  const isAccount =
    identity.kind === 'serviceAccount' &&
    identity.namespace === transaction.namespace &&
    identity.name === transaction.serviceAccountName;
  hold('I11', isAccount, 'a target is written as another ServiceAccount');
  hold('I5', about !== undefined && isTarget(location, transaction, about.index), 'the spec does not name the target of a write');
  hold('I2', stored.rollbackRef !== undefined, 'a target is written before its prior state is stored');
  if (about?.direction === 'change') checkChange(transaction, stored, about.index);
  if (about?.direction === 'undo') hold('I8', mayUndo(stored, about.index), 'no stored status announces the undo of a change');
}

function checkChange(transaction: Transaction, { items }: Status, index: number): void {
  hold('I8', items[index]?.progress.kind === 'announced', 'no stored status announces a change');
  hold('I17', index < firstBarred(transaction, items), 'a change is written before the gate in its way has passed');
}

const undoable: readonly (Item['progress']['kind'] | undefined)[] = ['announced', 'applied'];

function mayUndo({ phase, items }: Status, index: number): boolean {
  return phase === 'RollingBack' && undoable.includes(items[index]?.progress.kind);
}

function isTarget({ resource, namespace, name }: Location, transaction: Transaction, index: number): boolean {
  const target = transaction.changes[index]?.target;
  const wanted = resource.namespaced ? (target?.namespace ?? transaction.namespace) : undefined;
  return (
    target !== undefined &&
    target.name === name &&
    target.kind === resource.kind &&
    groupOf(target.apiVersion) === resource.group &&
    wanted === namespace
  );
}

function isKind({ resource }: Location, kind: Location['resource']): boolean {
  return resource.group === kind.group && resource.plural === kind.plural;
}

// A Create, and an apply that must create, rely on the name being free.
function namesVersion(write: Write): boolean {
  if (write.verb === 'create') return true;
  const { precondition } = write;
  return precondition === 'absent' || (precondition.uid !== '' && precondition.resourceVersion !== '');
}

function hold(invariant: InvariantError['invariant'], isKept: boolean, text: string): void {
  if (!isKept) throw new InvariantError(invariant, text);
}
