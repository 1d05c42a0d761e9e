// One turn of the loop for one parent: rules 2 to 6 (see double.ts).
import { at, type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import type { HookAnswer } from './answer.ts';
import { hasCode } from './connection.ts';
import type { EventRecorder } from './events.ts';
import type { CallHook } from './hook-call.ts';
import { finalizersOf, keyOf, type Parents } from './parents.ts';
import type { Verdict } from './queue.ts';

export interface SyncParts {
  /** The controller that calls contain. */
  readonly controller: JsonObject;
  readonly matchLabels: Readonly<Record<string, string>>;
  /** A DecoratorController, and the annotations of its objects. */
  readonly decorates?: Readonly<Record<string, string>>;
  readonly parents: Parents;
  readonly callHook: CallHook;
  readonly events: EventRecorder;
  readonly signal: AbortSignal;
  /** The related objects of a parent; absent without a customize hook. */
  readonly related?: (parent: JsonObject) => Promise<JsonObject>;
  readonly cached: (key: string) => JsonObject | undefined;
  readonly enqueueAfter: (key: string, seconds: number) => void;
}

const settled: Verdict = { kind: 'forget' };

/** Whether a parent belongs to this controller: it has the labels and annotations, or still the finalizer. */
export function concerns(parts: SyncParts, parent: JsonObject): boolean {
  return finalizersOf(parent).includes(finalizerOf(parts)) || matches(parts, parent);
}

/** Never rejects. */
export async function process(parts: SyncParts, key: string): Promise<Verdict> {
  const parent = parts.cached(key);
  if (parent === undefined || parts.signal.aborted || !concerns(parts, parent)) return settled;
  try {
    return await turn(parts, parent);
  } catch (error) {
    if (!parts.signal.aborted) parts.events.syncError(parent, messageOf(error));
    return { kind: 'backOff' };
  }
}

async function turn(parts: SyncParts, cached: JsonObject): Promise<Verdict> {
  const parent = await explained(withFinalizer(parts, cached), `can't sync finalizer for ${named(cached)}`);
  const finalizing = isDeleted(parent) || !matches(parts, parent);
  const hook = finalizing ? 'finalize' : 'sync';
  const related = (await parts.related?.(parent)) ?? {};
  const about = parts.decorates === undefined ? { parent, children: {} } : { object: parent, attachments: {} };
  const request = { controller: parts.controller, ...about, related, finalizing };
  const result = await parts.callHook(`/${hook}`, request, parent);
  if (result.kind === 'tooManyRequests') return { kind: 'after', seconds: result.seconds };
  if (result.kind === 'error')
    throw new Error(`sync hook failed for ${named(parent)}: ${hook} hook failed (version=v2): ${result.message}`);
  await obey(parts, parent, result.answer);
  return settled;
}

async function withFinalizer(parts: SyncParts, parent: JsonObject): Promise<JsonObject> {
  const name = finalizerOf(parts);
  if (finalizersOf(parent).includes(name) || isDeleted(parent)) return parent;
  return parts.parents.addFinalizer(parent, name);
}

async function obey(parts: SyncParts, parent: JsonObject, answer: HookAnswer): Promise<void> {
  if (answer.resyncAfterSeconds > 0) parts.enqueueAfter(keyOf(parent), answer.resyncAfterSeconds);
  if (parts.decorates !== undefined) return decorate(parts, parent, answer);
  if (!answer.finalized) return storeStatus(parts, parent, answer.status);
  const removed = parts.parents.removeFinalizer(parent, finalizerOf(parts));
  return storeStatus(parts, await explained(removed, `can't remove finalizer for ${named(parent)}`), answer.status);
}

/** Metacontroller stores no status if the answer has none. The double stores no empty status. */
async function decorate({ parents, controller }: SyncParts, parent: JsonObject, answer: HookAnswer): Promise<void> {
  const isAbsent = Object.keys(answer.status).length === 0;
  const stored = isAbsent ? parent : await parents.replaceStatus(parent, answer.status);
  if (answer.finalized) await parents.removeFinalizer(stored, finalizerOf({ controller }));
}

async function storeStatus(parts: SyncParts, parent: JsonObject, status: JsonObject): Promise<void> {
  const observed = { ...status, observedGeneration: at(parent, 'metadata', 'generation') ?? 0 };
  try {
    await parts.parents.storeStatus(parent, observed);
  } catch (error) {
    // The parent is gone, or others changed it four times in a row: their event brings the next turn.
    if (hasCode(error, 404) || hasCode(error, 409)) return;
    throw new Error(`can't update status for ${named(parent)}: ${messageOf(error)}`);
  }
}

function finalizerOf({ controller }: Pick<SyncParts, 'controller'>): string {
  const kind = (textAt(controller, 'kind') ?? '').toLowerCase();
  return `metacontroller.io/${kind}-${textAt(controller, 'metadata', 'name')}`;
}

function matches({ matchLabels, decorates = {} }: SyncParts, parent: JsonObject): boolean {
  const [labels, annotations] = [at(parent, 'metadata', 'labels'), at(parent, 'metadata', 'annotations')];
  return (
    Object.entries(matchLabels).every(([label, value]) => textAt(labels, label) === value) &&
    Object.entries(decorates).every(([annotation, value]) => textAt(annotations, annotation) === value)
  );
}

function isDeleted(parent: JsonObject): boolean {
  return at(parent, 'metadata', 'deletionTimestamp') !== undefined;
}

function named(parent: JsonObject): string {
  return `${textAt(parent, 'kind')} ${keyOf(parent)}`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

async function explained<T>(work: Promise<T>, context: string): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw new Error(`${context}: ${messageOf(error)}`);
  }
}
