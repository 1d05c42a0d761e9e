// Plays Metacontroller as wrong as possible: duplicate, stale and missing calls, answers that are stored late or never.
import { setTimeout } from 'node:timers/promises';
import { at, equalJson, isList, isObject, type Json, type JsonObject, textAt, withKey } from '../../hooks/objects/json.ts';
import type { Reply } from '../../hooks/transactions/call.ts';
import { must } from '../support/client.ts';
import { allTargets, transactionsOf } from './evidence.ts';
import { advance, Crash, land, timeOf } from './port.ts';
import { callFor, type HookFault, type Run, type RunOptions, read, startEngine } from './run.ts';
import { pathOfTransaction } from './story.ts';

/** A guard against an endless run: more calls than any run needs. */
const mostCalls = 160;
const mostSlowCalls = 900;

/** Calls the hook until every Transaction of the run is in its last state and no event of the story is left. */
export async function drive(run: Run): Promise<void> {
  let awake = wokenOf(run);
  const most = mostCallsOf(run);
  while (awake.length > 0 || run.lateAnswers.length > 0) {
    if (run.board.hookCall > most) throw new Error(`not at rest after ${most} calls`);
    const known = wokenOf(run);
    const happened = run.happened.size;
    const rested = await turns(run, awake);
    const hasStored = await storeLateAnswers(run, awake.length === rested.length);
    const hasGoneOn = (await storyGoesOn(run)) || run.happened.size > happened;
    const woken = wokenOf(run).filter((name) => !known.includes(name));
    awake = hasStored || hasGoneOn ? wokenOf(run) : [...awake.filter((name) => !rested.includes(name)), ...woken];
  }
  await land(run.world.cluster, run.board, () => true);
}

function mostCallsOf({ story, names }: Run): number {
  const usual = story.isSlow === true ? mostSlowCalls : mostCalls;
  return (story.mostCalls ?? usual) + 4 * allTargets({ story, names }).length;
}

export function wokenOf(run: Run): readonly string[] {
  return transactionsOf(run).filter((name) => !run.asleep.has(name));
}

/** One turn for each Transaction; returns those in their last state. */
async function turns(run: Run, names: readonly string[]): Promise<readonly string[]> {
  const rested: string[] = [];
  const take = async (name: string): Promise<void> => {
    if (await turn(run, name)) rested.push(name);
  };
  if (isFault(run.options.hookFaults, 'with others')) await Promise.all(names.map(take));
  else for (const name of names) await take(name);
  return rested;
}

/** One turn of Metacontroller for one Transaction; returns true if nothing is left to do for it. */
export async function turn(run: Run, name: string): Promise<boolean> {
  const parent = await read(run, name);
  if (parent === undefined) return true;
  run.board.hookCall += 1;
  const fault = hookFaultOf(run);
  remember(run, name, parent);
  if (fault?.kind === 'skipped') {
    await pass(run, 1);
    return false;
  }
  if (fault?.kind === 'stale') await replay(run, name, fault.stored);
  const twin = fault?.kind === 'doubled' ? ring(run, parent) : undefined;
  const reply = await ring(run, parent);
  await twin;
  note(run, parent, reply);
  return (
    reply !== 'crashed' && !(await goesAstray(run, { name, reply, fault })) && (await conclude(run, { name, parent, reply }))
  );
}

function isFault(faults: RunOptions['hookFaults'], kind: HookFault['kind']): boolean {
  return faults !== undefined && 'kind' in faults && faults.kind === kind;
}

function hookFaultOf({ options: { hookFaults }, board }: Run): HookFault | undefined {
  return hookFaults instanceof Map ? hookFaults.get(board.hookCall) : (hookFaults as HookFault | undefined);
}

function remember(run: Run, name: string, parent: JsonObject): void {
  const seen = run.parents.get(name) ?? [];
  run.parents.set(name, seen);
  if (!seen.some((other) => equalJson(at(other, 'status'), at(parent, 'status')))) seen.push(parent);
}

async function replay(run: Run, name: string, isStored: boolean): Promise<void> {
  for (const parent of (run.parents.get(name) ?? []).slice(0, -1)) {
    const reply = await ring(run, parent);
    if (isStored && reply !== 'crashed') await store(run, name, reply);
    // Each of these calls may be a step: an event of the story must not be missed.
    await storyGoesOn(run);
  }
}

/** After a crash another process takes over. */
async function ring(run: Run, parent: JsonObject): Promise<Reply | 'crashed'> {
  try {
    return await run.engine(callFor(parent, run.board.hookCall));
  } catch (error) {
    if (!(error instanceof Crash)) throw error;
    await Promise.allSettled(run.board.pending);
    run.engine = startEngine(run.world, run.board, run.options.timing);
    return 'crashed';
  }
}

function reasonOf(status: JsonObject): string {
  const conditions = at(status, 'conditions');
  const found = isList(conditions) ? conditions.find((one) => textAt(one, 'type') === 'Succeeded') : undefined;
  return textAt(found, 'reason') ?? '';
}

function note(run: Run, parent: JsonObject, reply: Reply | 'crashed'): void {
  const status = reply !== 'crashed' && reply.kind === 'status' ? reply.status : {};
  run.hookCalls.push({
    time: timeOf(run.board),
    items: at(parent, 'status', 'items') ?? [],
    phase: textAt(status, 'phase') ?? '',
    reason: reasonOf(status),
    number: run.board.hookCall,
    name: textAt(parent, 'metadata', 'name') ?? '',
    outcome: reply === 'crashed' ? reply : reply.kind,
    resyncAfterSeconds: reply === 'crashed' ? 0 : pauseOf(reply),
    portCalls: run.board.calls.length,
  });
}

function pauseOf(reply: Reply): number {
  return reply.kind === 'retry' ? reply.retryAfterSeconds : reply.resyncAfterSeconds;
}

interface Answered {
  readonly name: string;
  readonly reply: Reply;
  readonly fault: HookFault | undefined;
}

/** Whether the answer is not stored, or not now. */
async function goesAstray(run: Run, { name, reply, fault }: Answered): Promise<boolean> {
  if (fault?.kind === 'unstored' && fault.crash) run.engine = startEngine(run.world, run.board, run.options.timing);
  if (fault?.kind === 'stored late') run.lateAnswers.push({ due: run.board.hookCall + fault.calls, name, reply });
  return fault?.kind === 'unstored' || fault?.kind === 'stored late';
}

interface Concluded {
  readonly name: string;
  readonly parent: JsonObject;
  readonly reply: Reply;
}

async function conclude(run: Run, { name, parent, reply }: Concluded): Promise<boolean> {
  const before = at(parent, 'status') ?? {};
  await settle(run, name, reply);
  const pause = pauseOf(reply);
  if (pause > 0) await pass(run, pause);
  return pause === 0 && reply.kind === 'status' && equalJson(withObserved(reply.status, before), before);
}

function withObserved(status: JsonObject, before: Json): JsonObject {
  const observedGeneration = at(before, 'observedGeneration');
  return observedGeneration === undefined ? status : { ...status, observedGeneration };
}

async function settle(run: Run, name: string, reply: Reply): Promise<void> {
  if (reply.kind === 'status' && reply.finalized) {
    const path = pathOfTransaction(run.names, name);
    const answer = await run.world.controller.patch(path, { metadata: { finalizers: null } });
    if (answer.code !== 404) must(answer);
  }
  await store(run, name, reply);
}

async function pass(run: Run, seconds: number): Promise<void> {
  if (run.story.isSlow === true) return void (await setTimeout(Math.min(seconds * 1000, 100)));
  return advance(run.world.cluster, run.board, seconds * 1000);
}

/**
 * Stores a status as Metacontroller does: over whatever is there. If the CRD refuses it, nothing is stored and the next call
 * repairs it.
 */
export async function store(run: Run, name: string, reply: Reply): Promise<void> {
  if (reply.kind !== 'status') return;
  while ((await tryToStore(run, name, reply.status)) === 409);
}

/** The code of the API server's answer; 0 if there was nothing to store. */
async function tryToStore(run: Run, name: string, given: JsonObject): Promise<number> {
  const live = await read(run, name);
  if (live === undefined) return 0;
  const status = { ...given, observedGeneration: at(live, 'metadata', 'generation') ?? 0 };
  if (equalJson(at(live, 'status'), status)) return 0;
  const path = `${pathOfTransaction(run.names, name)}/status`;
  return (await run.world.controller.update(path, withKey(live, 'status', status))).code;
}

async function storeLateAnswers(run: Run, isLast: boolean): Promise<boolean> {
  const due = run.lateAnswers.filter((late) => isLast || late.due <= run.board.hookCall);
  for (const late of due) {
    run.lateAnswers.splice(run.lateAnswers.indexOf(late), 1);
    await store(run, late.name, late.reply);
  }
  return due.length > 0;
}

/** Runs the events of the story that are due by the stored status; returns whether there were any. */
export async function storyGoesOn(run: Run): Promise<boolean> {
  const parent = await read(run, run.names.run);
  const status = at(parent, 'status');
  // The API server's default says nothing of a phase.
  const isStored = textAt(status, 'phase') !== undefined;
  const due = run.story.events.filter(
    (event, index) => !run.happened.has(index) && isStored && isObject(status) && event.when?.(status) === true,
  );
  for (const event of due) {
    run.happened.add(run.story.events.indexOf(event));
    await event.act(run.world, run.names);
  }
  return due.length > 0;
}

/** Deletes the Transactions and lets the engine finish them, without faults. */
export async function letGo(run: Run): Promise<void> {
  const plain: Run = { ...run, options: {}, lateAnswers: [] };
  for (const name of Object.keys(run.story.transactions(run.names))) {
    await run.world.controller.delete(pathOfTransaction(run.names, name));
    const most = run.story.isSlow === true ? mostSlowCalls : 20;
    for (let tries = 0; tries < most && (await read(run, name)) !== undefined; tries += 1) await turn(plain, name);
  }
}
