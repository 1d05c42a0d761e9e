// What would be lost with an object that the Transaction deletes, or that its undo deletes again: the objects that Kubernetes
// deletes with it, and the contents of a Namespace or a CustomResourceDefinition.

import { whyIncomparable } from '../../objects/content/bulk.ts';
import { kubernetesManagers } from '../../objects/content/controller-writes.ts';
import { managersOf } from '../../objects/content/fields.ts';
import type { Failure, Passing, UnlistableKind } from '../../objects/failure.ts';
import type { JsonObject } from '../../objects/json.ts';
import { identityOf, type Reference } from '../../objects/reference.ts';
import type { SnapshotEntry } from '../model/entry.ts';
import { bearsOurWrite } from '../model/marks.ts';
import type { Status } from '../model/status.ts';
import { managersOfChange, type Transaction } from '../model/transaction.ts';
import type { Presence } from '../observe/observation.ts';
import type { Looker } from '../reading/listing.ts';
import { serviceAccountOf } from '../writes/resources.ts';
import { cascade, type DeletionTarget, type Dependent, isDerived, isMadeBy, type Maker } from './dependents.ts';
import { listContained } from './read-contained.ts';
import type { ReadContext } from './read-context.ts';
import { type Around, listCandidates } from './read-dependents.ts';
import { readStoredData } from './read-volumes.ts';
import type { Stored } from './stored.ts';

interface Contents {
  /** What others would lose, in words. */
  readonly contents: readonly string[];
  readonly behind?: Stored;
  /** Targets of the same Transaction whose undo comes first. */
  readonly ownContents: readonly string[];
  /** Kinds that the ServiceAccount may not list. */
  readonly unlisted: readonly string[];
  /** Kinds that cannot be listed for now. */
  readonly failing: readonly UnlistableKind<Passing>[];
  /** APIServices that are not Available. */
  readonly away: readonly string[];
  /** A kind inside the object that could not be listed. */
  readonly unlistableContents?: UnlistableKind;
}

type Found = Contents | { readonly trouble: Failure };

/** The change that is about to be made or undone, with all others. */
export interface Standing {
  readonly source: Pick<ReadContext, 'reader' | 'looks'>;
  readonly transaction: Transaction;
  readonly status: Status;
  readonly entries: readonly SnapshotEntry[];
  readonly entry: SnapshotEntry;
  /** Identities of objects that are taken for gone. */
  readonly assumedGone?: ReadonlySet<string>;
  /** By identity: targets of the same undo that stay after it. */
  readonly staying?: ReadonlyMap<string, Staying>;
}

/** A target as the undo leaves it. */
export interface Staying {
  readonly after: Extract<Presence, { kind: 'present' }>;
  /** Whether the undo writes to it. */
  readonly isWritten: boolean;
}

export function lookerOf({ reader, looks }: Standing['source'], transaction: Transaction): Looker {
  return { reader, looks, identity: serviceAccountOf(transaction) };
}

/** What a Delete would take with it. */
export async function readDelete({ source, transaction, entry }: Standing, live: JsonObject): Promise<Found> {
  const deletion = { resource: entry.resource, target: entry.target, object: live };
  const looked = await listCandidates(lookerOf(source, transaction), deletion);
  if (looked.kind === 'trouble') return { trouble: looked.failure };
  const { unlisted, failing, away } = looked.around;
  return { contents: cascadeNames(looked.around, deletion, new Set()), ownContents: [], unlisted, failing, away };
}

/** The same, from a look that was made already, without the objects of the uids `but`. */
export function cascadeNames(around: Around, deletion: DeletionTarget, but: ReadonlySet<string | undefined>): readonly string[] {
  const cascaded = cascade(deletion, around, (dependent) => isDerived(dependent, deletion));
  return cascaded.filter(({ uid }) => !but.has(uid)).map(({ reference }) => inWords(reference, deletion));
}

/** What others would lose with an object that our Create made. Objects that its own controllers made are not theirs. */
export async function readUndoOfCreate(standing: Standing, live: JsonObject): Promise<Found> {
  const { source, transaction, entry } = standing;
  const deletion = { resource: entry.resource, target: entry.target, object: live };
  const looker = lookerOf(source, transaction);
  const [looked, inside] = await Promise.all([
    listCandidates(looker, deletion),
    listContained(looker, deletion, standing.assumedGone),
  ]);
  if (looked.kind === 'trouble') return { trouble: looked.failure };
  if (inside.kind === 'trouble') return { trouble: inside.failure };
  const made = new Set<Dependent>();
  const isMade = (dependent: Dependent, by: Maker): boolean => {
    const isIts = isDerived(dependent, deletion) || isMadeBy(dependent, by);
    if (isIts) made.add(dependent);
    return isIts;
  };
  const cascaded = cascade(deletion, looked.around, isMade);
  const { unlisted, failing, away } = looked.around;
  const within = inside.kind === 'known' ? inside.dependents : [];
  const behind = await readStoredData(looker, deletion, [...made]);
  if (behind.kind === 'trouble') return { trouble: behind.failure };
  const stored = { claims: behind.claims.map((reference) => inWords(reference, deletion)), volumes: behind.volumes };
  const all = {
    ...sorted(standing, deletion, [...within, ...cascaded]),
    behind: stored,
    unlisted: [...behind.unlisted, ...unlisted],
    failing,
    away,
  };
  return inside.kind === 'unlistable' ? { ...all, unlistableContents: inside.unlistable } : all;
}

/** The words for what was found, by whether its undo comes first. `hangs`: whether a target that stays is in the way after its own undo, too. */
export function sorted(
  standing: Standing,
  deletion: DeletionTarget,
  found: readonly Dependent[],
  hangs: (left: Staying) => boolean = ({ isWritten }) => !isWritten,
): Pick<Contents, 'contents' | 'ownContents'> {
  const indexes = new Map(standing.entries.map(({ target }, index) => [identityOf(target), index]));
  const there = found.filter(({ reference }) => standing.assumedGone?.has(identityOf(reference)) !== true);
  const sorted = there.map((one) => {
    const index = indexes.get(identityOf(one.reference)) ?? -1;
    const left = standing.staying?.get(identityOf(one.reference));
    const whose = left !== undefined && hangs(left) ? 'others' : whoseIs(standing, one, index);
    return { whose, words: inWords(one.reference, deletion) };
  });
  const wordsOf = (whose: Whose): readonly string[] => [
    ...new Set(sorted.filter((one) => one.whose === whose).map(({ words }) => words)),
  ];
  return { contents: wordsOf('others'), ownContents: wordsOf('awaited') };
}

/**
 * `awaited`: a target of ours whose undo comes first. `ours`: a target whose undo comes later, and that nobody else has written.
 */
type Whose = 'others' | 'awaited' | 'ours';

function whoseIs({ transaction, status, entry }: Standing, { object }: Dependent, index: number): Whose {
  const progress = status.items[index]?.progress.kind;
  if (progress !== 'announced' && progress !== 'applied') return 'others';
  if (index > entry.index) return 'awaited';
  const own = managersOfChange(transaction, transaction.changes[index]);
  const { forward } = own;
  // Of the objects around only the names of their managers are kept: others decide how many fields these own.
  const isWithoutOthers = managersOf(object).every(({ name }) => name === forward || kubernetesManagers.includes(name));
  const isOurs = isWithoutOthers && whyIncomparable(object) === undefined && bearsOurWrite(object, own);
  return isOurs ? 'ours' : 'others';
}

// The words name the namespace only if it is not that of the deleted object, and not the deleted object itself.
function inWords({ kind, namespace, name }: Reference, { resource, target }: DeletionTarget): string {
  const isPlain = namespace === undefined || namespace === target.namespace || ['Namespace', definition].includes(resource.kind);
  return isPlain ? `${kind} ${name}` : `${kind} ${namespace}/${name}`;
}

const definition = 'CustomResourceDefinition';
