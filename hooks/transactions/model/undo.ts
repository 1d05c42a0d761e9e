// The requests of a user for an undo, and the engine's answer in `status.undo`: a plan, or why the engine refused the request. An
// undo that begins removes the answer.

import { createHash } from 'node:crypto';
import { at, isList, isObject, type Json, type JsonObject, listAt, textAt } from '../../objects/json.ts';
import { type Reason, refusedUndos } from './reason.ts';

/** What the undo does with one change. `Nothing`: no field of the object has changed, or the object is gone. */
export const undoVerdicts = ['Delete', 'Recreate', 'Restore', 'Nothing', 'Keep', 'Blocked', 'Undecided'] as const;

export type UndoItemVerdict = (typeof undoVerdicts)[number];

/** A field of a conflict or of a change back: its path, and JSON text of its values, bounded and masked. */
export interface UndoField {
  readonly path: string;
  /** The field managers that own it. */
  readonly manager?: string;
  readonly before?: string;
  readonly released?: string;
  readonly now?: string;
}

/** What has become of a sealed object since. Only the engine can read its stored state. */
export const sealedStates = ['asReleased', 'changed', 'deleted', 'created'] as const;

type SealedState = (typeof sealedStates)[number];

/** The findings about the undo of one change, before the choices of the user count. */
export interface UndoFinding {
  readonly index: number;
  readonly verdict: Exclude<UndoItemVerdict, 'Keep'>;
  /** Of a Blocked one, of an Undecided one if the API server gave one. */
  readonly reason?: Reason;
  readonly message?: string;
  readonly fields?: readonly UndoField[];
  readonly moreFields?: number;
  /** Of an Undecided one: it is Blocked if what made it Undecided lasts. */
  readonly isBlockedLater?: true;
  /** Kinds that cannot be listed, so that what would be deleted with the object is unknown; not those inside of it. */
  readonly unlistable?: readonly string[];
  /** Of a sealed object that could be read. */
  readonly sealed?: SealedState;
  /** Equal if the undo writes equal values. It is keyed with the key of the engine, so it shows no value. */
  readonly state: string;
  /** The live object, else the prior object: the undo also keeps the objects that it needs. */
  readonly object: JsonObject | undefined;
}

/** The decision about one change. */
export interface UndoItem {
  readonly index: number;
  readonly verdict: UndoItemVerdict;
  readonly target: string;
  readonly reason?: Reason;
  readonly message?: string;
  readonly fields?: readonly UndoField[];
  /** How many more fields there are. */
  readonly moreFields?: number;
}

export type UndoCounts = Readonly<Partial<Record<Lowercase<UndoItemVerdict>, number>>>;

/** How many changes have that verdict. */
export function amountOf(counts: UndoCounts, verdict: UndoItemVerdict): number {
  return counts[verdict.toLowerCase() as Lowercase<UndoItemVerdict>] ?? 0;
}

export const undoReasons = ['Planned', ...refusedUndos] as const;

export type UndoReason = (typeof undoReasons)[number];

/** The answer to a request. */
export interface UndoAnswer {
  readonly request: Request;
  readonly reason: UndoReason;
  readonly message: string;
  /** Of all decisions: sha256 in hex. */
  readonly digest: string;
  readonly counts: UndoCounts;
  readonly items: readonly UndoItem[];
  /** How many changes are not among the items. */
  readonly moreItems?: number;
  /** Of a plan: the indexes of the sealed objects, by their states. */
  readonly sealed?: SealedIndexes;
}

type SealedIndexes = Readonly<Partial<Record<SealedState, readonly number[]>>>;

/** What an answer may hold, so that every answer fits into a status (checks/room.ts). */
export const undoLimits = { items: 20, fields: 5, value: 64, path: 256, message: 1_000, bytes: 16_000 } as const;

export function encodeUndo({ items, counts, request, ...rest }: UndoAnswer): JsonObject {
  const encoded = items.map(({ fields, ...item }): JsonObject => {
    const listed = fields?.map((field) => ({ ...field }) as JsonObject);
    return { ...(item as unknown as JsonObject), ...(listed === undefined ? {} : { fields: listed }) };
  });
  const named = { annotation: request.annotation, value: request.value };
  return { ...(rest as unknown as JsonObject), request: named, counts: counts as JsonObject, items: encoded };
}

/** Undefined if `encodeUndo` does not make such an answer: the engine decides nothing on it. */
export function decodeUndo(wire: Json | undefined): { readonly undo?: UndoAnswer } {
  const [annotation, value] = [textAt(wire, 'request', 'annotation'), textAt(wire, 'request', 'value')];
  const [reason, digest] = [textAt(wire, 'reason'), textAt(wire, 'digest')];
  const known = undoReasons.find((one) => one === reason);
  if (annotation === undefined || value === undefined || known === undefined || digest === undefined) return {};
  const more = at(wire, 'moreItems');
  const undo: UndoAnswer = {
    request: { annotation, value },
    reason: known,
    message: textAt(wire, 'message') ?? '',
    digest,
    counts: countsIn(at(wire, 'counts')),
    items: itemsIn(at(wire, 'items')),
    ...(typeof more === 'number' ? { moreItems: more } : {}),
    ...sealedIn(at(wire, 'sealed')),
  };
  return { undo };
}

function sealedIn(wire: Json | undefined): Pick<UndoAnswer, 'sealed'> {
  const indexes = (state: SealedState) => listAt(wire, state).filter((index) => typeof index === 'number');
  const found = sealedStates.map((state) => [state, indexes(state)] as const).filter(([, some]) => some.length > 0);
  return found.length === 0 ? {} : { sealed: Object.fromEntries(found) };
}

function countsIn(wire: Json | undefined): UndoCounts {
  const names = undoVerdicts.map((verdict) => verdict.toLowerCase() as Lowercase<UndoItemVerdict>);
  return Object.fromEntries(names.map((name) => [name, at(wire, name)]).filter(([, value]) => typeof value === 'number'));
}

// As it was stored: what did not change must not seem to.
function itemsIn(wire: Json | undefined): readonly UndoItem[] {
  return isList(wire) ? wire.filter(isObject).map((item) => item as unknown as UndoItem) : [];
}

// A request by annotation. People and tools choose its value. The engine checks only whether the value is new, or was gone meanwhile.

export interface Request {
  /** The annotation that carries the request. */
  readonly annotation: string;
  /** The noted value: a digest if the value is long or odd. */
  readonly value: string;
}

const short = /^[\x20-\x7e]{0,128}$/;

/** A value as the engine notes it in the status and quotes it in messages: the value if it is short and plain, else its digest. */
export function notedValue(value: string): string {
  return short.test(value) ? value : `sha256:${createHash('sha256').update(value).digest('hex')}`;
}

/**
 * Noted in place of a value after its annotation is gone: a value that a user sets again is a new request. No value has this note.
 */
export const removed = '‹removed›';

/** The request of an annotation with that value, unless it is `noted` already. */
export function newRequest(annotation: string, found: string | undefined, noted: string | undefined): Request | undefined {
  const isHandled = noted !== removed && found !== undefined && notedValue(found) === noted;
  return found === undefined || isHandled ? undefined : { annotation, value: notedValue(found) };
}

/**
 * The notes about requests, now that the object has these annotations. No request is forgotten: an undo depends on whether there
 * was one.
 */
export function notedNow(noted: Readonly<Record<string, string>>, annotations: JsonObject): Readonly<Record<string, string>> {
  const isGone = (name: string): boolean => textAt(annotations, name) === undefined;
  return Object.fromEntries(Object.entries(noted).map(([name, value]) => [name, isGone(name) ? removed : value]));
}
