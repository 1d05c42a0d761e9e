// Encodes the snapshot that the engine stores before the first change: the prior and the expected state of every target.
//
// The entries lie in one immutable ConfigMap, or in several if one would be too large. Users who read the Transaction's namespace
// can read these ConfigMaps, and others may write there. So the engine seals an entry if those users must not see its object, and
// otherwise tags it. It also binds each entry to its place. The first ConfigMap carries a tag over the whole, and the status
// carries its digest. Only the spec names the object of an entry, never the entry itself.
//
// I12. No snapshot, status, Lease, log or Event shows a value of a Secret, or of an object in another namespace (for messages:
//     content/path.ts, checks/shown-path.ts).

import type { Packer } from '../../objects/cluster.ts';
import {
  at,
  isDeeperThan,
  isObject,
  type Json,
  type JsonObject,
  listAt,
  mostLevels,
  parseJson,
  textAt,
} from '../../objects/json.ts';
import { measureOfText, remember } from '../../objects/measure.ts';
import { groupOf, identityOf, type Reference, snapshotKey, versionOf } from '../../objects/reference.ts';
import { atOnce } from '../../objects/steps.ts';
import { type Change, type Way, wayIn } from '../model/change.ts';
import { isSealed, type SnapshotEntry, type StoredResource } from '../model/entry.ts';
import type { Transaction } from '../model/transaction.ts';
import type { EncodedEntry } from './chunks.ts';

/** Levels of maps and lists in an entry without its objects. */
const mostHeadLevels = 3;

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

/** The objects of an entry. Each has a line of its own after the line of the rest; the line of an absent object is empty. */
const states = ['prior', 'expected', 'content'] as const;

/** The text of an entry, line by line: each object takes a tenth of a second if it has 45 000 keys. */
export function* linesOf(entry: SnapshotEntry): Generator<string, void> {
  const { prior, expected, content, ...rest } = entry;
  yield JSON.stringify(rest);
  for (const state of [prior, expected, content]) yield state === undefined ? '' : JSON.stringify(state);
}

export function textOf(entry: SnapshotEntry): string {
  return [...linesOf(entry)].join('\n');
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

/**
 * Reads the entry in an authentic text, in one step for each of its lines. The result is undefined if the entry contradicts the
 * spec.
 */
export function* decoding(text: string, place: Place): Generator<undefined, Decoded | undefined> {
  const [head = '', ...lines] = text.split('\n');
  const rest = lines.length === states.length ? decodeHead(parsed(head, mostHeadLevels)?.object, place, lines) : undefined;
  if (rest === undefined) return undefined;
  const found: Partial<Record<(typeof states)[number], JsonObject>> = {};
  let memory = 0;
  for (const [index, line] of lines.entries()) {
    const key = states[index];
    if (line === '' || key === undefined) continue;
    yield;
    const state = parsed(line, mostLevels);
    if (state === undefined) return undefined;
    found[key] = state.object;
    memory += state.memory;
  }
  return { entry: { ...rest, ...found }, size: Buffer.byteLength(text), memory };
}

/** The entry without its objects. */
function decodeHead(head: JsonObject | undefined, { transaction, index, target }: Place, lines: readonly string[]) {
  const type = decidedWay(head, transaction.changes[index], lines);
  const stored = at(head, 'target') as Reference | undefined;
  const resource = decodeResource(at(head, 'resource'), target);
  if (type === undefined || at(head, 'index') !== index || resource === undefined) return undefined;
  if (!isReference(stored) || identityOf(stored) !== identityOf(target)) return undefined;
  const approximate = at(head, 'approximate') === true;
  const deferred = at(head, 'deferred') === true ? { deferred: true as const } : {};
  const isPriorRefused = at(head, 'isPriorRefused') === true ? { isPriorRefused: true as const } : {};
  const recreates = at(head, 'recreates') === true ? { recreates: true as const } : {};
  const restores = at(head, 'restores') === true ? { restores: true as const } : {};
  const how = { ...deferred, ...isPriorRefused, ...recreates, ...restores, ...keptScaleIn(head) };
  return { index, type, target, resource, approximate, ...how };
}

function keptScaleIn(head: JsonObject | undefined): Pick<SnapshotEntry, 'keepsScale'> {
  const [path, number, by] = [
    listAt(head, 'keepsScale', 'path'),
    at(head, 'keepsScale', 'number'),
    textAt(head, 'keepsScale', 'by'),
  ];
  const names = path.filter((name) => typeof name === 'string');
  return names.length === 0 || typeof number !== 'number' || by === undefined ? {} : { keepsScale: { path: names, number, by } };
}

/** The entry in an authentic text; undefined if it contradicts the spec. */
export function readEntry(text: string, place: Place): Decoded | undefined {
  return atOnce(decoding(text, place));
}

/** The entry's way, if it fits the change of the spec, and if the entry has content exactly when the spec has no content. */
function decidedWay(wire: Json | undefined, change: Change | undefined, lines: readonly string[]): Way | undefined {
  const [prior, , content] = lines;
  if (change === undefined || (content !== '') !== (change.contentFrom !== undefined)) return undefined;
  const isRestore = change.type === 'Restore';
  if ((at(wire, 'restores') === true) !== isRestore) return undefined;
  const mayRecreate = isRestore || change.whenImmutable === 'Recreate';
  if (at(wire, 'recreates') === true && (!mayRecreate || prior === '')) return undefined;
  return wayIn(change.type, at(wire, 'type'));
}

/** The object in a text, and its memory in bytes. A walk over 90 000 fields takes as long as the parser. */
function parsed(text: string, most: number): { readonly object: JsonObject; readonly memory: number } | undefined {
  const measure = measureOfText(text);
  try {
    const object = parseJson(text);
    if (!isObject(object) || (measure.levels > most && isDeeperThan(object, most))) return undefined;
    remember(object, measure);
    return { object, memory: measure.memory };
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
