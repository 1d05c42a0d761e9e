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
import { type Dependent, dependentOf } from './dependents.ts';
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
  /** Only of a rollback, whose deletions count as those of an undo: identities of its targets that stay. */
  readonly stayingTargets?: ReadonlySet<string> | undefined;
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
  readonly resource: SnapshotEntry['resource'];
  readonly after: { readonly object: JsonObject };
}

/** The objects as this undo leaves them: it restores targets that stay before it deletes what they belong to. */
export function asLeft({ undo }: HazardContext, found: readonly Dependent[]): readonly Dependent[] {
  const { staying = new Map<string, Staying>() } = undo ?? {};
  return found.map((one) => {
    const left = staying.get(identityOf(one.reference));
    return left === undefined ? one : dependentOf(left.resource, left.after.object);
  });
}

/**
 * The names of the findings, by whether their undo is earlier. `isLost`: whether a target that stays is lost after its own undo,
 * too.
 */
export function sorted(
  context: HazardContext,
  found: readonly Dependent[],
  isLost: (staying: Staying) => boolean = () => true,
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
  const all = (wanted: Whose): readonly Dependent[] => there.filter((_, index) => whose[index] === wanted);
  const nameOf = ({ reference }: Dependent): string => nameIn(context, reference);
  const awaited = new Map(all('awaited').map((one) => [indexOf(one), nameOf(one)]));
  return {
    lost: [...new Set(all('others').map(nameOf))],
    awaited: [...awaited].map(([index, name]) => ({ index, name })),
  };
}

/** Whether this undo has deleted the object since it was listed: a list counts for a moment. */
function wasDeleted({ transaction, undo }: HazardContext, { uid, object }: Dependent, index: number): boolean {
  const [item, entry] = [undo?.status.items[index], undo?.entries[index]];
  if (item?.progress.kind !== 'restored' || !isDeletedByUndo(entry)) return false;
  return item.uid === undefined
    ? bearsOurWrite(object, managersOfChange(transaction, transaction.changes[index]))
    : item.uid === uid;
}

/** `awaited`: a target whose undo is earlier. `ours`: a target that a later part of this undo deletes, and nobody else has changed. */
type Whose = 'others' | 'awaited' | 'ours';

function whoseIs({ transaction, entry, undo }: HazardContext, { object }: Dependent, index: number): Whose {
  const progress = undo?.status.items[index]?.progress.kind;
  if (undo === undefined || (progress !== 'announced' && progress !== 'applied')) return 'others';
  if (index > entry.index) return 'awaited';
  const own = managersOfChange(transaction, transaction.changes[index]);
  const { forward } = own;
  // Of the dependents only the names of their managers are kept: others decide how many fields these own.
  const isWithoutOthers = managersOf(object).every(({ name }) => name === forward || kubernetesManagers.includes(name));
  const isOurs = isWithoutOthers && whyIncomparable(object) === undefined && bearsOurWrite(object, own);
  if (isOurs && isDeletedByUndo(undo.entries[index])) return 'ours';
  return mayComeFirst(undo, index, entry.index) ? 'awaited' : 'others';
}

// The undo of any other change leaves an object there: Kubernetes must not delete it.
function isDeletedByUndo(entry: SnapshotEntry | undefined): boolean {
  return entry?.type === 'Create' && entry.recreates !== true;
}

// An object may stay, or its own undo decides whether others' changes keep it. So what needs it waits for that undo, if that undo does
// not wait in turn.
function mayComeFirst({ orderOf }: UndoContext, index: number, needed: number): boolean {
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
