// One run of a story: it plays Metacontroller, calls the engine in this process, and has a clock of its own, so that waiting for a
// late write takes no real time.

import { at, isList, type Json, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import type { Call, Hook, Reply, Timing } from '../../hooks/transactions/call.ts';
import { createSync } from '../../hooks/transactions/reconcile.ts';
import { must } from '../support/client.ts';
import { engineNamespace } from '../support/install.ts';
import { manifests } from '../support/manifests.ts';
import { account, comparable } from '../support/stage.ts';
import { surface } from '../support/surface.ts';
import { allTargets, type Objects, type Target } from './evidence.ts';
import { forgedStatus } from './invariants-of-secrecy.ts';
import { type Names, namesOf } from './names.ts';
import { placeOf } from './places.ts';
import { advance, type Board, createBoard, type Fault, faultyCluster, type PortCall, timeOf } from './port.ts';
import { type Given, homeOf, pathOfTransaction, type Story, threeObjects, transactionPath } from './story.ts';
import { createAccount, type World } from './world.ts';

/** A fault in one call of the hook. */
export type HookFault =
  /** Its answer is never stored; `crash`: because the process died after it. */
  | { readonly kind: 'unstored'; readonly crash: boolean }
  /** The call is not made: this event of Metacontroller's is lost. */
  | { readonly kind: 'skipped' }
  /** Its answer is stored only after that many more calls. */
  | { readonly kind: 'stored late'; readonly calls: number }
  /** The same call is made twice in parallel. */
  | { readonly kind: 'doubled' }
  /** The calls for all Transactions are made in parallel. */
  | { readonly kind: 'with others' }
  /** Before the call: calls with each older state of the Transaction; their answers are stored too, or not. */
  | { readonly kind: 'stale'; readonly stored: boolean };

export interface RunOptions {
  /** By the number of the call, or as a function of the call. */
  readonly faults?: ReadonlyMap<number, Fault> | Board['faultOf'];
  /** By the number of the call, or for every call. */
  readonly hookFaults?: ReadonlyMap<number, HookFault> | HookFault;
  /** The engine to call until it dies; a new one by default. */
  readonly engine?: Hook;
  /** The fault for a call during the deletion of the Transactions, after the story, by its number from there on. */
  readonly whileDeleted?: (number: number) => Fault | undefined;
  /** What happens after the story, before the Transactions are deleted. */
  readonly afterwards?: () => Promise<void>;
  /** Longer deadlines, for runs in which somebody acts between the requests: that takes the engine's time. */
  readonly timing?: Partial<Timing>;
  /** Objects of other writers that differ from their last state, after the end, in words. */
  readonly bystanders?: () => Promise<readonly string[]>;
}

export interface HookCall {
  readonly number: number;
  readonly name: string;
  readonly outcome: string;
  readonly resyncAfterSeconds: number;
  /** Port calls before it ended. */
  readonly portCalls: number;
  /** When it ended, in ms of the time of the run: what passes on a busy machine counts too. */
  readonly time: number;
  /** The items of the status that was stored before it. */
  readonly items: Json;
  /** That of the condition Succeeded of its answer. */
  readonly reason: string;
  /** The phase of its answer. */
  readonly phase: string;
}

export interface Run {
  readonly world: World;
  readonly story: Story;
  readonly names: Names;
  readonly board: Board;
  readonly options: RunOptions;
  readonly hookCalls: HookCall[];
  readonly uids: Map<string, string>;
  readonly parents: Map<string, JsonObject[]>;
  readonly happened: Set<number>;
  readonly asleep: Set<string>;
  /** uids of ConfigMaps that somebody else created: the engine need not release them. */
  readonly forged: Set<string>;
  /** Targets that users changed before the first change, by their keys: an undo restores this state. */
  readonly since: Map<string, JsonObject>;
  readonly lateAnswers: { readonly due: number; readonly name: string; readonly reply: Reply }[];
  engine: Hook;
}

/** ms for which a reading of the Transaction counts. */
const readAge = 1_000;

/** Each call handles one target. */
export const oneByOne: Timing = { stepDeadline: 5_000, writeTimeout: 1_000, callBudget: 0, readAge, parallel: 16 };

function usual({ callBudget }: World): Timing {
  return { ...oneByOne, callBudget };
}

const finalizer = 'metacontroller.io/compositecontroller-faults';
let count = 0;

export function createRun(world: World, story: Story, options: RunOptions = {}): Run {
  count += 1;
  const board = createBoard(options.faults ?? new Map());
  const homes = story.isAlone === true ? { ...world, namespace: `run${count}` } : world;
  const names = namesOf(count, homes);
  const engine = options.engine ?? startEngine(world, board, options.timing);
  const asleep = new Set(story.asleep?.(names));
  const others = { forged: new Set<string>(), since: new Map<string, JsonObject>() };
  const lists = {
    ...others,
    asleep,
    hookCalls: [],
    uids: new Map(),
    parents: new Map(),
    happened: new Set<number>(),
    lateAnswers: [],
  };
  const run: Run = { world, story, names, board, options, ...lists, engine };
  board.meanwhile = (call) => goOn(run, call);
  return run;
}

/** Events of the story before a request. */
async function goOn(run: Run, call: PortCall): Promise<void> {
  const { story, names, happened, world, board } = run;
  const due = story.events.filter((event, index) => !happened.has(index) && event.before?.(call, names) === true);
  for (const event of due) {
    happened.add(story.events.indexOf(event));
    await event.act(world, names);
    await advance(world.cluster, board, readAge);
  }
}

/** A new process of the engine, without memory. */
export function startEngine(world: World, board: Board, given: Partial<Timing> = {}): Hook {
  const timing = { ...usual(world), ...given };
  const { cluster, sealer } = world;
  board.engines += 1;
  return createSync({
    cluster: faultyCluster({ cluster, board, life: { engine: board.engines, gone: false }, writeTimeout: timing.writeTimeout }),
    sealer,
    manifests,
    clock: { monotonic: () => timeOf(board), sleep: (milliseconds) => advance(cluster, board, milliseconds) },
    timing,
    engineNamespace,
    record: (report) => {
      surface(report);
      board.reports.push(report);
    },
  });
}

/** Creates the targets and the Transactions. */
export async function setUp(run: Run): Promise<void> {
  const { names, story } = run;
  if (story.isAlone === true) await createHome(run);
  await createTargets(run);
  for (const [key, changes] of Object.entries(story.transactions(names))) {
    const metadata = { annotations: { ...story.annotations } };
    const stored = await createTransaction(run, key, { metadata, spec: { serviceAccountName: account, changes, ...story.spec } });
    run.uids.set(key, textAt(stored, 'metadata', 'uid') ?? '');
  }
}

/** `key`: its name, or with its namespace before the name. */
export async function createTransaction(
  { names, world }: Pick<Run, 'names' | 'world'>,
  key: string,
  { metadata, spec }: { readonly metadata?: JsonObject; readonly spec: JsonObject },
): Promise<JsonObject> {
  const { namespace, name } = homeOf(names, key);
  const object = { apiVersion: 'tx.janus.io/v1alpha1', kind: 'Transaction', metadata: { ...metadata, name }, spec };
  const path = transactionPath(namespace, name);
  const stored = must(await world.controller.create(path.replace(/\/[^/]+$/, ''), object));
  await adopt(world, path);
  return stored;
}

/** Adds the finalizer, as Metacontroller does before its first call. */
export async function adopt({ controller }: World, path: string): Promise<void> {
  must(await controller.patch(path, { metadata: { finalizers: [finalizer] } }));
}

export async function createTargets(run: Pick<Run, 'world' | 'names' | 'story'>): Promise<void> {
  await Promise.all((run.story.given ?? threeObjects)(run.names).map((given) => createObject(run, given)));
}

async function createHome({ world: { controller }, names: { namespace } }: Run): Promise<void> {
  must(await controller.create('/api/v1/namespaces', { metadata: { name: namespace } }));
  await createAccount(controller, namespace);
}

async function createObject(
  { world: { stranger }, names }: Pick<Run, 'world' | 'names'>,
  { object, applied, since }: Given,
): Promise<void> {
  const { path, collection, name } = placeOf(object, names.namespace);
  must(await stranger.create(collection, object, { fieldManager: 'kubectl-create' }));
  await since?.(stranger);
  if (applied === undefined) return;
  const { apiVersion = 'v1', kind = '' } = object;
  must(await stranger.apply(path, { apiVersion, kind, metadata: { name }, ...applied }, { fieldManager: 'gitops' }));
}

/** The objects at the places of the targets, by their keys; undefined for objects that do not exist. */
export async function targets(run: Pick<Run, 'world' | 'names' | 'story'>): Promise<Objects> {
  const read = async ({ key, path }: Target): Promise<readonly [string, JsonObject | undefined]> => {
    const answer = await run.world.controller.get(path);
    return [key, answer.code === 404 ? undefined : must(answer)];
  };
  return new Map(await Promise.all(allTargets(run).map(read)));
}

export function portrait(object: JsonObject | undefined, isNew: boolean): unknown {
  return object === undefined ? undefined : comparable(object, isNew);
}

/** False values in a request must not matter. */
export function callFor(parent: JsonObject, number: number): Call {
  const [namespace = '', name = '', uid = ''] = ['namespace', 'name', 'uid'].map((key) => textAt(parent, 'metadata', key));
  return { namespace, name, uid, status: forgedStatus(number), children: [] };
}

export async function read(run: Pick<Run, 'world' | 'names'>, key: string): Promise<JsonObject | undefined> {
  const answer = await run.world.controller.get(pathOfTransaction(run.names, key));
  return answer.code === 404 ? undefined : must(answer);
}

export function finalizersOf(object: JsonObject | undefined): readonly unknown[] {
  const found = at(object, 'metadata', 'finalizers');
  return isList(found) ? found : [];
}
