// The change or the undo for which hazards are read, and whose the objects are that were found.

import { kubernetesManagers } from '../../objects/content/controller-writes.ts';
import { managersOf } from '../../objects/content/fields.ts';
import { whyIncomparable } from '../../objects/content/too-large.ts';
import type { JsonObject } from '../../objects/json.ts';
import { identityOf, type Reference } from '../../objects/reference.ts';
import type { SnapshotEntry } from '../model/entry.ts';
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
  const { entries, staying } = context.undo ?? { entries: [] };
  const indexes = new Map(entries.map(({ target }, index) => [identityOf(target), index]));
  const there = found.filter(({ reference }) => !context.gone.has(identityOf(reference)));
  const whose = there.map((one): Whose => {
    const left = staying?.get(identityOf(one.reference));
    const index = indexes.get(identityOf(one.reference)) ?? -1;
    return left !== undefined && isLost(left) ? 'others' : whoseIs(context, one, index);
  });
  const namesOf = (wanted: Whose): readonly string[] => [
    ...new Set(there.filter((_, index) => whose[index] === wanted).map(({ reference }) => nameIn(context, reference))),
  ];
  return { lost: namesOf('others'), awaited: namesOf('awaited') };
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
  return isOurs ? 'ours' : 'others';
}

/** The name has the namespace only if it is not that of the object that changes, nor the object itself. */
export function nameIn({ entry: { resource, target } }: HazardContext, { kind, namespace, name }: Reference): string {
  const isPlain = namespace === undefined || namespace === target.namespace || containers.includes(resource.kind);
  return isPlain ? `${kind} ${name}` : `${kind} ${namespace}/${name}`;
}

const containers = ['Namespace', 'CustomResourceDefinition'];
