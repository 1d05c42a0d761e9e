// One run of a story: Metacontroller by hand, the engine called in this process, and a time of its own, so that waiting for a
// late write takes none of ours.
import type { Call, Hook, Reply } from '../../hooks/call.ts';
import { at, isList, isObject, type JsonObject, textAt } from '../../hooks/model/json.ts';
import { createSync } from '../../hooks/sync.ts';
import { must } from '../support/client.ts';
import { engineNamespace } from '../support/install.ts';
import { account, comparable } from '../support/stage.ts';
import { type Names, namesOf } from './names.ts';
import { type Board, createBoard, type Fault, faultyCluster, timeOf } from './port.ts';
import { type Story, transactionPath } from './stories.ts';
import type { World } from './world.ts';

/** What goes wrong with one call of the hook. */
export type HookFault =
  /** Its answer is never stored; `crash`: because the process died after it. */
  | { readonly kind: 'unstored'; readonly crash: boolean }
  /** The call is not made: this event of Metacontroller's is lost. */
  | { readonly kind: 'skipped' }
  /** Its answer is stored only after so many more calls. */
  | { readonly kind: 'stored late'; readonly calls: number }
  /** Before it: calls with each older state of the Transaction, whose answers are stored as well, or are not. */
  | { readonly kind: 'stale'; readonly stored: boolean };

export interface RunOptions {
  readonly faults?: ReadonlyMap<number, Fault>;
  /** By the number of the call, or for every call. */
  readonly hookFaults?: ReadonlyMap<number, HookFault> | HookFault;
}

export interface HookCall {
  readonly number: number;
  readonly name: string;
  readonly outcome: string;
  readonly resyncAfterSeconds: number;
  /** Number of the last port call before it ended. */
  readonly portCalls: number;
}

export interface Run {
  readonly world: World;
  readonly story: Story;
  readonly names: Names;
  readonly board: Board;
  readonly options: RunOptions;
  readonly hookCalls: HookCall[];
  readonly parents: Map<string, JsonObject[]>;
  readonly happened: Set<number>;
  readonly lateAnswers: { readonly due: number; readonly name: string; readonly reply: Reply }[];
  engine: Hook;
}

const timing = { stepDeadline: 3_000, writeTimeout: 1_000 };
const finalizer = 'metacontroller.io/compositecontroller-faults';
let count = 0;

export function createRun(world: World, story: Story, options: RunOptions = {}): Run {
  count += 1;
  const board = createBoard(options.faults ?? new Map());
  const names = namesOf(count);
  const engine = startEngine(world, board);
  const lists = { hookCalls: [], parents: new Map(), happened: new Set<number>(), lateAnswers: [] };
  return { world, story, names, board, options, ...lists, engine };
}

/** A process of the engine that knows nothing of what was before. */
export function startEngine({ cluster, sealer }: World, board: Board): Hook {
  board.engines += 1;
  return createSync({
    cluster: faultyCluster({ cluster, board, life: { engine: board.engines, gone: false }, writeTimeout: timing.writeTimeout }),
    sealer,
    clock: { monotonic: () => timeOf(board) },
    timing,
    engineNamespace,
    record: () => undefined,
  });
}

export function configMapPath({ world }: Pick<Run, 'world'>, name: string): string {
  return `/api/v1/namespaces/${world.namespace}/configmaps/${name}`;
}

/** The targets and the Transactions are made. */
export async function setUp(run: Run): Promise<void> {
  const { names, world, story } = run;
  await Promise.all([names.b, names.c, names.d].map((name) => createTarget(run, name)));
  for (const [name, changes] of Object.entries(story.transactions(names))) {
    const metadata = { name, finalizers: [finalizer], annotations: { ...story.annotations } };
    const spec = { serviceAccountName: account, changes };
    const object = { apiVersion: 'tx.janus.io/v1alpha1', kind: 'Transaction', metadata, spec };
    must(await world.controller.create(transactionPath(world.namespace, name).replace(/\/[^/]+$/, ''), object));
  }
}

async function createTarget(run: Run, name: string): Promise<void> {
  const { stranger } = run.world;
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, labels: { team: 'shop' } }, data: { color: 'blue' } };
  const path = configMapPath(run, name);
  must(await stranger.create(path.replace(/\/[^/]+$/, ''), object, { fieldManager: 'kubectl-create' }));
  const applied = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { applied: 'yes' } };
  must(await stranger.apply(path, applied, { fieldManager: 'gitops' }));
}

/** What the targets hold, by name; undefined for what is not there. */
export async function targets(run: Run): Promise<ReadonlyMap<string, JsonObject | undefined>> {
  const { a, b, c, d } = run.names;
  const read = async (name: string): Promise<readonly [string, JsonObject | undefined]> => {
    const answer = await run.world.controller.get(configMapPath(run, name));
    return [name, answer.code === 404 ? undefined : must(answer)];
  };
  return new Map(await Promise.all([a, b, c, d].map(read)));
}

export function portrait(object: JsonObject | undefined, isNew: boolean): unknown {
  return object === undefined ? undefined : comparable(object, isNew);
}

export function callFor(parent: JsonObject): Call {
  const [namespace = '', name = '', uid = ''] = ['namespace', 'name', 'uid'].map((key) => textAt(parent, 'metadata', key));
  const status = at(parent, 'status');
  return { namespace, name, uid, status: isObject(status) ? status : {}, children: [] };
}

export async function read(run: Run, name: string): Promise<JsonObject | undefined> {
  const answer = await run.world.controller.get(transactionPath(run.world.namespace, name));
  return answer.code === 404 ? undefined : must(answer);
}

export function finalizersOf(object: JsonObject | undefined): readonly unknown[] {
  const found = at(object, 'metadata', 'finalizers');
  return isList(found) ? found : [];
}
