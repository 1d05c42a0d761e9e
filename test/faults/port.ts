// The port of the engine with numbered calls. Each call can fail: the process dies before or after it, its answer is lost, its
// write lands later, another answer comes, or somebody acts in the gap before it. The numbers count the calls of all engines of one
// run, so that a second engine can be hit too.

import type { Answer, Cluster, Identity, Write } from '../../hooks/objects/cluster.ts';
import type { Failure } from '../../hooks/objects/failure.ts';
import { isObject, type Json, textAt } from '../../hooks/objects/json.ts';
import type { StepReport } from '../../hooks/transactions/call.ts';

export type Fault =
  /** The process dies before the request is sent, or after the API server has answered it. `act`: before another process takes over. */
  | { readonly kind: 'before' | 'after'; readonly act?: () => Promise<unknown> }
  /** The answer is lost; the request was carried out, or never arrived. */
  | { readonly kind: 'lost' | 'unsent' }
  /** The answer is lost, and the write is carried out that many calls later; the process may die too. */
  | { readonly kind: 'late'; readonly calls: number; readonly crash: boolean }
  | { readonly kind: 'fails'; readonly failure: Failure }
  /** That much time passes before the API server gets the request, or before the engine gets the answer. */
  | { readonly kind: 'delay'; readonly milliseconds: number; readonly of: 'request' | 'answer' }
  /**
   * Somebody acts. `inOrder`: after all earlier requests are answered. `answered`: between the API server's answer and the engine.
   */
  | { readonly kind: 'gap'; readonly act: () => Promise<unknown>; readonly inOrder?: true; readonly answered?: true };

/** The process of an engine is gone: nothing that it would do later happens. */
export class Crash extends Error {}

export interface PortCall {
  readonly number: number;
  /** The call of the hook that it belongs to, as the driver counts them. */
  readonly hookCall: number;
  /** The engine of the run that made it. */
  readonly engine: number;
  readonly method: keyof Cluster;
  /** `get ConfigMap run1-a`, for people. */
  readonly what: string;
  readonly name: string;
  readonly identity: Identity['kind'];
  outcome: string;
}

interface LateWrite {
  readonly write: Write;
  readonly atCall: number;
  /** The write has no effect after this moment of the run's time. */
  readonly deadline: number;
}

/** What the engines of one run share: the count of calls, the faults, the time, the writes in flight. */
export interface Board {
  /** An event of the story before a call; it is no fault. */
  meanwhile: (call: PortCall) => Promise<void>;
  /** The fault that hits a call; none once the story is over. */
  faultOf: (call: PortCall) => Fault | undefined;
  readonly calls: PortCall[];
  readonly late: LateWrite[];
  readonly pending: Set<Promise<unknown>>;
  /** The engines' reports of their calls: logs, Events and metrics are made of them. */
  readonly reports: StepReport[];
  /** ms by which the time of this run is ahead. */
  ahead: number;
  hookCall: number;
  engines: number;
  /** Number of the last call that a fault hit; 0 if there was none. */
  struckAt: number;
}

export function createBoard(faults: ReadonlyMap<number, Fault> | Board['faultOf']): Board {
  const faultOf = typeof faults === 'function' ? faults : ({ number }: PortCall) => faults.get(number);
  const lists = { calls: [], late: [], pending: new Set<Promise<unknown>>(), reports: [] };
  return { ...lists, faultOf, meanwhile: async () => {}, ahead: 0, hookCall: 0, engines: 0, struckAt: 0 };
}

const noAnswer: Failure = {
  kind: 'transient',
  code: 0,
  reason: 'ConnectionFailed',
  message: 'no answer from the API server',
  fields: [],
  definitive: false,
};

/** One process of an engine: once gone, it sends nothing. */
interface Life {
  readonly engine: number;
  gone: boolean;
}

interface Wire {
  readonly cluster: Cluster;
  readonly board: Board;
  readonly life: Life;
  readonly writeTimeout: number;
}

export function faultyCluster(wire: Wire): Cluster {
  const { cluster } = wire;
  const numbered = <Arguments extends readonly unknown[], Result>(
    method: keyof Cluster,
    call: (...args: Arguments) => Promise<Result>,
  ) => {
    return async (...args: Arguments): Promise<Result> => {
      const sent = sendNumbered(wire, { method, args, carryOut: () => call(...args) }) as Promise<Result>;
      wire.board.pending.add(sent);
      return sent.finally(() => wire.board.pending.delete(sent));
    };
  };
  const numberedList = numbered('listMetadata', cluster.listMetadata);
  return {
    get: numbered('get', cluster.get),
    getMetadata: numbered('getMetadata', cluster.getMetadata),
    listMetadata: (...args) => (isOneOfMany(args) ? cluster.listMetadata(...args) : numberedList(...args)),
    resource: numbered('resource', cluster.resource),
    resources: numbered('resources', cluster.resources),
    allowed: numbered('allowed', cluster.allowed),
    dryRun: numbered('dryRun', cluster.dryRun),
    logs: numbered('logs', cluster.logs),
    send: numbered('send', cluster.send),
  };
}

// A search for dependents is a list for each kind, all in parallel and all alike: the list of ConfigMaps represents all.
function isOneOfMany([resource, , identity]: Parameters<Cluster['listMetadata']>): boolean {
  return identity.kind === 'serviceAccount' && resource.plural !== 'configmaps';
}

interface Request {
  readonly method: keyof Cluster;
  readonly args: readonly unknown[];
  readonly carryOut: () => Promise<unknown>;
}

async function sendNumbered(wire: Wire, request: Request): Promise<unknown> {
  const { board, life } = wire;
  if (life.gone) throw new Crash();
  const earlier = [...board.pending];
  const call: PortCall = {
    number: board.calls.length + 1,
    hookCall: board.hookCall,
    engine: life.engine,
    ...described(request),
    outcome: '',
  };
  board.calls.push(call);
  await board.meanwhile(call);
  const fault = board.faultOf(call);
  if (fault !== undefined) board.struckAt = call.number;
  await land(wire.cluster, board, ({ atCall }) => atCall <= call.number);
  if (fault?.kind === 'gap' && fault.inOrder === true) await Promise.allSettled(earlier);
  const answer = await struck(wire, request, fault);
  call.outcome = outcomeOf(answer);
  if (life.gone) throw new Crash();
  return ahead(answer, board.ahead);
}

async function struck(wire: Wire, { method, args, carryOut }: Request, fault: Fault | undefined): Promise<unknown> {
  const { board, life, writeTimeout } = wire;
  switch (fault?.kind) {
    case undefined:
      return carryOut();
    case 'gap':
      return fault.answered === true ? carryOut().finally(fault.act) : fault.act().then(carryOut);
    case 'before':
      life.gone = true;
      await fault.act?.();
      throw new Crash();
    case 'after': {
      const answer = await carryOut();
      life.gone = true;
      await fault.act?.();
      return answer;
    }
    case 'delay':
      if (fault.of === 'request') await advance(wire.cluster, board, fault.milliseconds);
      return carryOut().finally(() => (fault.of === 'answer' ? advance(wire.cluster, board, fault.milliseconds) : undefined));
    case 'fails':
      return { kind: 'failed', failure: fault.failure };
    case 'lost':
      await carryOut();
      return { kind: 'failed', failure: noAnswer };
    case 'unsent':
      return { kind: 'failed', failure: noAnswer };
    case 'late': {
      const atCall = board.calls.length + fault.calls;
      if (method === 'send') board.late.push({ write: args[0] as Write, atCall, deadline: timeOf(board) + writeTimeout });
      life.gone ||= fault.crash;
      return { kind: 'failed', failure: noAnswer };
    }
  }
}

export function timeOf(board: Board): number {
  return performance.now() + board.ahead;
}

/** Carries out the writes in flight that are due now. */
export async function land(cluster: Cluster, board: Board, isDue: (write: LateWrite) => boolean): Promise<void> {
  const due = board.late.filter(isDue);
  for (const write of due) board.late.splice(board.late.indexOf(write), 1);
  for (const { write } of due) await cluster.send(write);
}

/** Lets time pass, only for the engines of this run. Writes in flight land within their own time. */
export async function advance(cluster: Cluster, board: Board, milliseconds: number): Promise<void> {
  const then = timeOf(board) + milliseconds;
  await land(cluster, board, ({ deadline }) => deadline <= then);
  board.ahead += milliseconds;
}

/** The same cluster with its clock moved forward. */
export function laterCluster(cluster: Cluster, milliseconds: number): Cluster {
  return { ...cluster, get: async (...args) => ahead(await cluster.get(...args), milliseconds) as Answer };
}

function ahead(answer: unknown, milliseconds: number): unknown {
  const isTimed = typeof answer === 'object' && answer !== null && 'serverTime' in answer;
  return isTimed ? { ...answer, serverTime: (answer.serverTime as number) + milliseconds } : answer;
}

function outcomeOf(answer: unknown): string {
  const { kind, failure } = answer as Answer & { failure?: Failure };
  return kind === 'ok' ? 'ok' : `${failure?.code} ${failure?.reason}`;
}

function described({ method, args }: Request): Pick<PortCall, 'method' | 'what' | 'name' | 'identity'> {
  const [first, ...others] = args;
  const write = method === 'send' || method === 'dryRun' ? (first as Write) : undefined;
  const place = (write?.location ?? first) as Json;
  const name = nameOf(place);
  const kind = textAt(place, 'resource', 'kind') ?? textAt(place, 'kind') ?? '';
  const identity = write?.identity ?? others.find((one) => isObject(one as Json) && 'kind' in (one as object));
  return {
    method,
    what: [method, write?.verb, kind, name].filter((word) => word !== undefined && word !== '').join(' '),
    name,
    identity: (identity as Identity | undefined)?.kind ?? 'engine',
  };
}

function nameOf(place: Json): string {
  return typeof place === 'string'
    ? place
    : (textAt(place, 'name') ?? textAt(place, 'resource') ?? textAt(place, 'plural') ?? '');
}
