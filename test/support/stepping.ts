// Plays Metacontroller for a stage without a loop, one call at a time, so that a test can stop a Transaction anywhere.
import { at, isList, type Json, type JsonObject, textAt, withKey } from '../../hooks/objects/json.ts';
import { annotations } from '../../hooks/transactions/model/transaction.ts';
import { newRequest } from '../../hooks/transactions/model/undo.ts';
import { type Answer, must } from './client.ts';
import { conditionOf, type Stage, statusOf } from './stage.ts';

export interface Stepped {
  /** HTTP status of the hook's answer; 0 if there was no Transaction to call for. */
  readonly code: number;
  /** The stored status; empty once the Transaction is gone. */
  readonly status: JsonObject;
  readonly phase: string;
  readonly resyncAfterSeconds: number;
  readonly gone: boolean;
  /** Whether an annotation makes a request that the stored status does not answer yet. */
  readonly isRequested: boolean;
}

/** In ms. A guard against an endless loop: a loaded machine needs more calls while others have their turns, so calls do not count. */
const longest = 600_000;

const finalizer = 'metacontroller.io/compositecontroller-stepping';

/** One turn: adds our finalizer, makes one call, stores its status, and removes the finalizer if the hook says so. */
export async function step(stage: Stage, name: string): Promise<Stepped> {
  const path = pathOf(stage, name);
  const found = await stage.client.get(path);
  if (found.code === 404) return goneStep;
  const isDeleted = textAt(must(found), 'metadata', 'deletionTimestamp') !== undefined;
  if (!isDeleted && !finalizersOf(found).includes(finalizer)) await setFinalizer(stage, path, true);
  const { code, body, text } = await stage.call(name, isDeleted ? '/finalize' : '/sync');
  if (code !== 200 && code !== 429) throw new Error(`the hook answered ${code}: ${text}`);
  if (code === 429) return { code, ...standing(await stage.read(name)), resyncAfterSeconds: 1, gone: false };
  if (at(body, 'finalized') === true) await setFinalizer(stage, path, false);
  return stored(await storeStatus(stage, name, body), code, body);
}

const goneStep: Stepped = { code: 0, status: {}, phase: '', resyncAfterSeconds: 0, gone: true, isRequested: false };

function stored(answer: Answer, code: number, body: JsonObject): Stepped {
  if (answer.code === 404) return { ...goneStep, code };
  const seconds = at(body, 'resyncAfterSeconds');
  return { code, ...standing(must(answer)), resyncAfterSeconds: typeof seconds === 'number' ? seconds : 0, gone: false };
}

function standing(transaction: JsonObject): Pick<Stepped, 'status' | 'phase' | 'isRequested'> {
  const status = statusOf(transaction);
  return { status, phase: textAt(status, 'phase') ?? '', isRequested: requests.some((name) => isUnanswered(transaction, name)) };
}

const requests = [annotations.requestRollback, annotations.retryRollback, annotations.planUndo];

function isUnanswered(transaction: JsonObject, name: string): boolean {
  const [found, noted] = [
    textAt(transaction, 'metadata', 'annotations', name),
    textAt(transaction, 'status', 'handledAnnotations', name),
  ];
  return textAt(transaction, 'metadata', 'deletionTimestamp') === undefined && newRequest(name, found, noted) !== undefined;
}

/** Stores the status of an answer as Metacontroller does: over whatever is there. */
export async function storeStatus(stage: Stage, name: string, body: JsonObject): Promise<Answer> {
  const path = pathOf(stage, name);
  for (;;) {
    const live = await stage.client.get(path);
    if (live.code === 404) return live;
    const generation = at(live.body, 'metadata', 'generation') ?? 0;
    const status = { ...(at(body, 'status') as JsonObject), observedGeneration: generation };
    const answer = await stage.client.update(`${path}/status`, withKey(live.body, 'status', status));
    if (answer.code !== 409) return answer;
  }
}

/** Adds the finalizer, as Metacontroller does before its first call. */
export function adopt(stage: Stage, name: string): Promise<void> {
  return setFinalizer(stage, pathOf(stage, name), true);
}

async function setFinalizer({ client }: Stage, path: string, wanted: boolean): Promise<void> {
  const names = finalizersOf(await client.get(path));
  if (names.includes(finalizer) === wanted) return;
  const finalizers = wanted ? [...names, finalizer] : names.filter((other) => other !== finalizer);
  const answer = await client.patch(path, { metadata: { finalizers } });
  if (answer.code !== 404) must(answer);
}

function finalizersOf({ body }: Answer): readonly Json[] {
  const found = at(body, 'metadata', 'finalizers');
  return isList(found) ? found : [];
}

/** Steps until that phase, and no step further. */
export function stepUntil(stage: Stage, name: string, phase: string): Promise<Stepped> {
  return stepTo(stage, name, `${name} to be ${phase}`, (now) => now.phase === phase);
}

/**
 * Steps until the condition Finished is True, and no request is left. If a call gets no answer from the API server, the status stays as
 * it was before the request: that is no end.
 */
export function stepToEnd(stage: Stage, name: string): Promise<Stepped> {
  const isOver = ({ status, isRequested }: Stepped): boolean => conditionOf(status, 'Finished') === 'True' && !isRequested;
  return stepTo(stage, name, `${name} to finish`, isOver);
}

/** Steps until the Transaction, which is being deleted, is gone. */
export function stepUntilGone(stage: Stage, name: string): Promise<Stepped> {
  return stepTo(stage, name, `${name} to be gone`, ({ gone }) => gone);
}

/** Steps until the condition holds; `what` describes it in the error. */
export async function stepTo(
  stage: Stage,
  name: string,
  what: string,
  isThere: (now: Stepped) => boolean | Promise<boolean>,
): Promise<Stepped> {
  const seen: string[] = [];
  for (const end = performance.now() + longest; performance.now() < end; ) {
    const now = await step(stage, name);
    if (await isThere(now)) return now;
    if (now.gone) break;
    seen.push(`${now.phase} (${textAt(now.status, 'message')})`);
    if (now.resyncAfterSeconds > 0) await pause(Math.min(now.resyncAfterSeconds, 0.25));
  }
  throw new Error(`waited for ${what}, in vain; the last steps were ${seen.slice(-5).join(', ')}`);
}

// The hook waits for something elsewhere: to call it more often than it requested does no harm.
function pause(seconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, seconds * 1000));
}

function pathOf({ namespace }: Stage, name: string): string {
  return `/apis/tx.janus.io/v1alpha1/namespaces/${namespace}/transactions/${name}`;
}
