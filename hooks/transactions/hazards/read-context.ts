// The change or the undo for which hazards are read, and whose the objects are that were found.

import { kubernetesManagers } from '../../objects/content/controller-writes.ts';
import { managersOf } from '../../objects/content/fields.ts';
import { whyIncomparable } from '../../objects/content/too-large.ts';
import type { JsonObject } from '../../objects/json.ts';
import { identityOf, type Reference } from '../../objects/reference.ts';
import type { SnapshotEntry } from '../model/entry.ts';
import type { UndoOrder } from '../model/item.ts';
import { bearsOurWrite } from '../model/marks.ts';
import type { Status } from '../model/status.ts';
import { managersOfChange, type Transaction } from '../model/transaction.ts';
import type { Lister } from '../reading/listing.ts';
import type { Dependent } from './dependents.ts';
import type { Hazards } from './hazards.ts';

export interface HazardContext {
  /** Reads as the ServiceAccount. */
  readonly lister: Lister;
  readonly transaction: Transaction;
  readonly entry: Pick<SnapshotEntry, 'index' | 'target' | 'resource'>;
  /** Identities of objects that no longer exist then: earlier changes, or earlier parts of the undo, delete them. */
  readonly gone: ReadonlySet<string>;
  /** Whether the engine made these reads before the first change: then it lists only some kinds again (read-dependents.ts). */
  readonly isAgain?: boolean;
  /** Only of an undo. */
  readonly undo?: UndoContext | undefined;
}

interface UndoContext {
  readonly status: Status;
  readonly entries: readonly SnapshotEntry[];
  /** Computed only for objects that others have changed. */
  readonly orderOf: () => UndoOrder;
  /** By identity: targets that stay after this undo. */
  readonly staying?: ReadonlyMap<string, Staying> | undefined;
}

/** A target as the undo leaves it. */
export interface Staying {
  readonly after: { readonly object: JsonObject };
  /** Whether the undo writes to it. */
  readonly isWritten: boolean;
}

/**
 * The names of the findings, by whether their undo is earlier. `isLost`: whether a target that stays is lost after its own undo,
 * too.
 */
export function sorted(
  context: HazardContext,
  found: readonly Dependent[],
  isLost: (staying: Staying) => boolean = ({ isWritten }) => !isWritten,
): Pick<Hazards, 'lost' | 'awaited'> {
  const { entries = [], staying } = context.undo ?? {};
  const indexes = new Map(entries.map(({ target }, index) => [identityOf(target), index]));
  const indexOf = ({ reference }: Dependent): number => indexes.get(identityOf(reference)) ?? -1;
  const there = found.filter((one) => !context.gone.has(identityOf(one.reference)) && !wasDeleted(context, one, indexOf(one)));
  const whose = there.map((one): Whose => {
    const left = staying?.get(identityOf(one.reference));
    const index = indexOf(one);
    return left !== undefined && isLost(left) ? 'others' : whoseIs(context, one, index);
  });
  const namesOf = (wanted: Whose): readonly string[] => [
    ...new Set(there.filter((_, index) => whose[index] === wanted).map(({ reference }) => nameIn(context, reference))),
  ];
  return { lost: namesOf('others'), awaited: namesOf('awaited') };
}

/** Whether this undo has deleted the object since it was listed: a list counts for a moment. */
function wasDeleted({ transaction, undo }: HazardContext, { uid, object }: Dependent, index: number): boolean {
  const [item, entry] = [undo?.status.items[index], undo?.entries[index]];
  if (item?.progress.kind !== 'restored' || entry?.type !== 'Create' || entry.recreates === true) return false;
  return item.uid === undefined
    ? bearsOurWrite(object, managersOfChange(transaction, transaction.changes[index]))
    : item.uid === uid;
}

/** `awaited`: our target whose undo is earlier. `ours`: a target whose undo is later, and that no other writer has changed. */
type Whose = 'others' | 'awaited' | 'ours';

function whoseIs({ transaction, entry, undo }: HazardContext, { object }: Dependent, index: number): Whose {
  const progress = undo?.status.items[index]?.progress.kind;
  if (progress !== 'announced' && progress !== 'applied') return 'others';
  if (index > entry.index) return 'awaited';
  const own = managersOfChange(transaction, transaction.changes[index]);
  const { forward } = own;
  // Of the dependents only the names of their managers are kept: others decide how many fields these own.
  const isWithoutOthers = managersOf(object).every(({ name }) => name === forward || kubernetesManagers.includes(name));
  const isOurs = isWithoutOthers && whyIncomparable(object) === undefined && bearsOurWrite(object, own);
  if (isOurs) return 'ours';
  return undo !== undefined && isDeletedBefore(undo, index, entry.index) ? 'awaited' : 'others';
}

// Of an object that others have changed, its own undo decides whether it may be deleted. So the object waits for that undo, if the undo
// does not wait for the object.
function isDeletedBefore({ entries, orderOf }: UndoContext, index: number, needed: number): boolean {
  const entry = entries[index];
  if (entry?.type !== 'Create' || entry.recreates === true) return false;
  const order = orderOf();
  const awaited = [index];
  for (const one of awaited) awaited.push(...[...(order.get(one)?.indexes ?? [])].filter((other) => !awaited.includes(other)));
  return !awaited.includes(needed);
}

/** The name has the namespace only if it is not that of the object that changes, nor the object itself. */
export function nameIn({ entry: { resource, target } }: HazardContext, { kind, namespace, name }: Reference): string {
  const isPlain = namespace === undefined || namespace === target.namespace || containers.includes(resource.kind);
  return isPlain ? `${kind} ${name}` : `${kind} ${namespace}/${name}`;
}

const containers = ['Namespace', 'CustomResourceDefinition'];
