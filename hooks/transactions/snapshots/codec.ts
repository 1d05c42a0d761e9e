// Encodes the snapshot that the engine stores before the first change: the prior and the expected state of every target.
//
// The entries lie in one immutable ConfigMap, or in several if one would be too large. Users who read the Transaction's namespace
// can read these ConfigMaps, and others may write there. So the engine seals an entry if those users must not see its object, and
// otherwise tags it. It also binds each entry to its place. The first ConfigMap carries a tag over the whole, and the status
// carries its digest. Only the spec names the object of an entry, never the entry itself.
//
// I12. No snapshot, status, Lease, log or Event shows a value of a Secret, or of an object in another namespace (for messages:
//     content/path.ts, checks/failures.ts).

import type { Packer } from '../../objects/cluster.ts';
import { at, isDeeperThan, isObject, type Json, mostLevels, parseJson, textAt } from '../../objects/json.ts';
import { measureOfText, remember } from '../../objects/measure.ts';
import { groupOf, identityOf, type Reference, snapshotKey, versionOf } from '../../objects/reference.ts';
import { type Change, type Way, wayIn } from '../model/change.ts';
import { isSealed, type SnapshotEntry, type StoredResource } from '../model/entry.ts';
import type { Transaction } from '../model/transaction.ts';
import type { EncodedEntry } from './chunks.ts';

/** Levels of maps and lists in an entry; the object itself is one level down. */
const mostEntryLevels = mostLevels + 1;

const compressAbove = 2_048;

/** The place of an entry: a change of a Transaction, in the snapshot of that name. */
export interface Place {
  readonly transaction: Pick<Transaction, 'uid' | 'namespace' | 'serviceAccountName' | 'changes'>;
  /** Name of the first ConfigMap. */
  readonly base: string;
  readonly index: number;
  /** The target as the spec names it. */
  readonly target: Reference;
}

/** The context that a text is bound to when it is sealed or tagged. `use` separates texts of different purposes. */
export function contextOf(use: string, { transaction, base, index, target }: Place): string {
  const { uid, changes, serviceAccountName } = transaction;
  const type = changes[index]?.type ?? '';
  return JSON.stringify([use, uid, base, changes.length, index, type, identityOf(target), serviceAccountName]);
}

export function textOf(entry: SnapshotEntry): string {
  return JSON.stringify(entry);
}

/** An entry as text, its readable name, and the bytes before packing. */
export interface Encoded extends EncodedEntry {
  readonly size: number;
}

export function encodeEntry(
  entry: SnapshotEntry,
  { transaction, base }: Pick<Place, 'transaction' | 'base'>,
  packer: Packer,
  text: string = textOf(entry),
): Encoded {
  const { index, target } = entry;
  const packed = pack(text, { transaction, base, index, target }, packer);
  return { index, key: snapshotKey(target).replaceAll(/[^\w.-]/g, '-'), text: packed, size: Buffer.byteLength(text) };
}

/** Sealed if readers of the namespace must not read the values (I12), else tagged. */
function pack(text: string, place: Place, packer: Packer): string {
  if (isSealed(place, place.transaction)) return `sealed:${packer.seal(text, contextOf('sealed', place))}`;
  const form = text.length > compressAbove ? 'compressed' : 'plain';
  const stored = form === 'compressed' ? packer.compress(text) : text;
  return `${form}:${packer.tag(stored, contextOf(form, place))}:${stored}`;
}

/** A decoded entry. `size` in bytes of text, `memory` in bytes. */
export interface Decoded {
  readonly entry: SnapshotEntry;
  readonly size: number;
  readonly memory: number;
}

/**
 * The text of the entry; undefined if the stored text is not our entry of that change, or expands to more than `most` bytes. The target
 * decides whether the text must be sealed; the text itself does not.
 */
export function openEntry(text: string, place: Place, packer: Packer, most: number): string | undefined {
  if (isSealed(place, place.transaction))
    return text.startsWith('sealed:') ? packer.open(text.slice('sealed:'.length), contextOf('sealed', place), most) : undefined;
  const { form, tag, stored } = openForm(text);
  if (form === '' || !packer.isTagged(stored, tag, contextOf(form, place))) return undefined;
  if (form === 'compressed') return packer.expand(stored, most);
  return Buffer.byteLength(stored) <= most ? stored : undefined;
}

/**
 * A text that is not sealed: the form in which it is stored, its tag, and the stored text. The form is empty if there is no form.
 */
export function openForm(text: string): { readonly form: string; readonly tag: string; readonly stored: string } {
  const [whole = '', form = '', tag = ''] = /^(plain|compressed):([^:]{1,400}):/.exec(text) ?? [];
  return { form, tag, stored: text.slice(whole.length) };
}

/** The entry in an authentic text; undefined if it contradicts the spec. */
export function readEntry(text: string, { transaction, index, target }: Place): Decoded | undefined {
  const measure = measureOfText(text);
  const wire = parsed(text, measure.levels);
  const type = decidedWay(wire, transaction.changes[index]);
  const stored = at(wire, 'target') as Reference | undefined;
  const resource = decodeResource(at(wire, 'resource'), target);
  if (type === undefined || at(wire, 'index') !== index || resource === undefined) return undefined;
  if (!isReference(stored) || identityOf(stored) !== identityOf(target)) return undefined;
  const states = (['prior', 'expected', 'content'] as const).flatMap((key) => {
    const state = at(wire, key);
    return isObject(state) ? [[key, state] as const] : [];
  });
  const approximate = at(wire, 'approximate') === true;
  const deferred = at(wire, 'deferred') === true ? { deferred: true as const } : {};
  const recreates = at(wire, 'recreates') === true ? { recreates: true as const } : {};
  const entry = { index, type, target, resource, ...Object.fromEntries(states), approximate, ...deferred, ...recreates };
  for (const [, state] of states) remember(state, measure);
  return { entry, size: Buffer.byteLength(text), memory: measure.memory };
}

/** The entry's way, if it fits the change of the spec, and if the entry has content exactly when the spec has no content. */
function decidedWay(wire: Json | undefined, change: Change | undefined): Way | undefined {
  const isStored = at(wire, 'content') !== undefined;
  if (change === undefined || isStored !== (change.contentFrom !== undefined)) return undefined;
  if (at(wire, 'recreates') === true && (change.whenImmutable !== 'Recreate' || at(wire, 'prior') === undefined))
    return undefined;
  return wayIn(change.type, at(wire, 'type'));
}

// A walk over 90 000 fields takes as long as the parser.
function parsed(text: string, levels: number): Json | undefined {
  try {
    const value = parseJson(text);
    return levels > mostEntryLevels && isDeeperThan(value, mostEntryLevels) ? undefined : value;
  } catch {
    return undefined;
  }
}

function isReference(value: unknown): value is Reference {
  const reference = value as Json | undefined;
  return ['apiVersion', 'kind', 'name'].every((key) => textAt(reference, key) !== undefined);
}

function decodeResource(wire: Json | undefined, { apiVersion, kind, namespace }: Reference): StoredResource | undefined {
  const plural = textAt(wire, 'plural');
  const found = { group: groupOf(apiVersion), version: versionOf(apiVersion), kind, namespaced: namespace !== undefined };
  const agrees = (Object.keys(found) as (keyof typeof found)[]).every((key) => at(wire, key) === found[key]);
  if (plural === undefined || !agrees) return undefined;
  return { ...found, plural, statusSubresource: at(wire, 'statusSubresource') === true };
}
