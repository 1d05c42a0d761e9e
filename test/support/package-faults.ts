// What can happen to a process that serves package transactions, request by request: it dies before or after one, or before its answer
// is stored; the answer of the API server or of a registry is lost, or is 503; a request takes effect late.

import type { VerifyingRegistry } from '../../hooks/crossplane/registry.ts';
import type { Answer, Cluster, Failed, ListAnswer, Write } from '../../hooks/objects/cluster.ts';

/** `frozen`: the process stops before the request, which it sends once everybody else believes that it is gone. */
export type Fault = 'dies before' | 'dies after' | 'dropped' | '503' | 'late' | 'frozen';

/** A request, or an answer that is to be stored. */
export interface Act {
  readonly kind: 'write' | 'read' | 'registry' | 'answer';
  /** What it is, without the names of objects, such as `create Transaction` or `Waiting -> Validating`. */
  readonly what: string;
  /** The phase when the call began. */
  readonly phase: string;
  /** From 0 over a drive. */
  readonly number: number;
  /** Of an answer: seconds until the next call. */
  readonly wait?: number;
}

/** The fault of an act; undefined: none. */
export type Plan = (act: Act) => Fault | undefined;

export class Died extends Error {}

/** ms after which a late request takes effect. */
const latenessOfRequests = 1_500;

/** What the specification of faults calls the places where a process can die. */
export function boundaryOf({ kind, what, phase }: Act): string {
  if (kind === 'registry' || kind === 'read') return kind === 'read' ? 'cluster read' : 'registry read';
  if (phase === 'RollingBack') return 'rolling back';
  return boundaries.find(([pattern]) => pattern.test(`${phase}: ${what}`))?.[1] ?? 'status stored';
}

const boundaries: readonly (readonly [RegExp, string])[] = [
  [/^(none|Waiting): (update|create) Lock/, 'Lock taken'],
  [/^(none|Waiting): .*-> Validating/, 'number stored'],
  [/^Validating: .*-> Preparing/, 'resolved'],
  [/^Preparing: create ConfigMap/, 'contents written'],
  [/^Installing: create/, 'stage made'],
  [/^Installing: Installing -> Installing/, 'between stages'],
  [/^Installing: .*-> Verifying/, 'last Committed'],
  [/^Verifying: .*-> Deleting/, 'verified'],
  [/^Deleting: delete /, 'deleted'],
  [/^(Verifying|Deleting): update Lock/, 'Lock written'],
  [/^Releasing: update Lock/, 'Lock released'],
  [/: delete /, 'cleaned'],
];

export interface Faults {
  /** Lives through the act, as planned. */
  live(kind: Act['kind'], what: string, wait?: number): Fault | undefined;
  /** Acts of somebody else before a write. */
  before(what: string): Promise<void>;
  /** Late requests that have not taken effect yet. */
  readonly late: Promise<unknown>[];
  /** Sends the requests of processes that were frozen. */
  readonly thawed: (() => Promise<unknown>)[];
  /** What became of them, such as `create Transaction: exists`. */
  readonly landed: string[];
}

const lost: Failed = {
  kind: 'failed',
  failure: { kind: 'transient', code: 0, reason: 'ConnectionFailed', message: 'no answer', fields: [], definitive: false },
};
const unavailable: Failed = {
  kind: 'failed',
  failure: { ...lost.failure, code: 503, reason: 'ServiceUnavailable', message: 'try again' },
};

/** Asks as that process does: it dies before or after, or does not get the answer. */
async function asked<Result, Lost>(
  fault: Fault | undefined,
  ask: () => Promise<Result>,
  without: { readonly unavailable: Lost; readonly lost: Lost },
): Promise<Result | Lost> {
  if (fault === 'dies before') throw new Died();
  if (fault === '503') return without.unavailable;
  const answer = await ask();
  if (fault === 'dies after') throw new Died();
  return fault === undefined ? answer : without.lost;
}

/** The cluster as that process finds it. */
export function troubledCluster(cluster: Cluster, faults: Faults): Cluster {
  const read = <Result extends Answer | ListAnswer>(what: string, ask: () => Promise<Result>): Promise<Result | Failed> =>
    asked(faults.live('read', what), ask, { unavailable, lost });
  return {
    ...cluster,
    get: (location, identity) => read(`get ${location.resource.kind}`, () => cluster.get(location, identity)),
    getMetadata: (location, identity) => read(`look at ${location.resource.kind}`, () => cluster.getMetadata(location, identity)),
    listMetadata: (resource, namespace, identity, options) =>
      read(`list ${resource.kind}`, () => cluster.listMetadata(resource, namespace, identity, options)),
    dryRun: (write) => read(`try ${write.location.resource.kind}`, () => cluster.dryRun(write)),
    send: (write) => sending(cluster, write, faults),
  };
}

async function sending(cluster: Cluster, write: Write, faults: Faults): Promise<Answer> {
  const what = `${write.verb} ${write.location.resource.kind}`;
  await faults.before(what);
  const fault = faults.live('write', what);
  if (fault === 'frozen') {
    faults.thawed.push(async () => {
      const answer = await cluster.send(write);
      faults.landed.push(`${what}: ${answer.kind === 'failed' ? answer.failure.kind : 'done'}`);
    });
    throw new Died();
  }
  if (fault !== 'late') return asked(fault, () => cluster.send(write), { unavailable, lost });
  faults.late.push(later(() => cluster.send(write)));
  return lost;
}

async function later(send: () => Promise<unknown>): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, latenessOfRequests));
  await send();
}

/** Registries as that process finds them. */
export function troubledRegistry(registry: VerifyingRegistry, faults: Faults): VerifyingRegistry {
  const failed = { kind: 'failed', failure: { kind: 'unavailable', message: 'the registry does not answer' } } as const;
  const asking = <Result>(what: string, ask: () => Promise<Result>): Promise<Result | typeof failed> =>
    asked(faults.live('registry', what), ask, { unavailable: failed, lost: failed });
  return {
    tags: (source) => asking('tags', () => registry.tags(source)),
    digest: (reference) => asking('digest', () => registry.digest(reference)),
    read: (source, digest, take) => asking('read', () => registry.read(source, digest, take)),
    signed: (question) => asking('signed', () => registry.signed(question)),
  };
}
