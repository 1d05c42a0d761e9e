// Starts the hook: configuration, connection, engine, web server. On SIGTERM it ends the hook when the calls in flight are answered. It
// is the only file with effects at import.
//
// The hook listens before the API server answers. So a Pod is alive, but not ready, while the API server is unavailable. Until the
// sealing key is available, the hook answers every call with 429.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Sealer } from '../hooks/objects/cluster.ts';
import type { EngineParts, Hook, Reply, Timing } from '../hooks/transactions/call.ts';
import { createSync } from '../hooks/transactions/reconcile.ts';
import type { Parsed } from './access/files.ts';
import { type OpenAccess, openAccess } from './access/open.ts';
import { type App, buildApp } from './app.ts';
import { runInBackground, type SealingKeys } from './background.ts';
import { clock } from './clock.ts';
import { apiServerOf, type Config, type PackagesConfig, readConfig } from './config.ts';
import { type CrossplaneState, suitsCrossplane } from './crossplane.ts';
import { createExpressions } from './expressions/expressions.ts';
import { createCluster, type KubernetesCluster } from './kubernetes/cluster.ts';
import { connect } from './kubernetes/connect.ts';
import type { Connection } from './kubernetes/connection.ts';
import { connectTimeout } from './kubernetes/pools.ts';
import { createSealer } from './kubernetes/sealer.ts';
import type { Transport } from './kubernetes/transport.ts';
import { createManifests } from './manifests/manifests.ts';
import { connectPackages, followDefinitions } from './packages.ts';
import { countRequests } from './telemetry/api-requests.ts';
import { defineMetrics } from './telemetry/definitions.ts';
import { createEventRecorder, type EventRecorder } from './telemetry/events.ts';
import { createInventory } from './telemetry/inventory.ts';
import { createMetrics } from './telemetry/metrics.ts';

// A call starts no request after its deadline. Its last request may still take effect for the lifetime of a write, plus the time for a
// new connection. Until then the engine makes no decision that depends on the request.
const writeLifetime = 10_000;
// The API server accepts the token of a deleted ServiceAccount for up to 10 s.
const sighting = 1_000;
const limits: Timing = { stepDeadline: 16_000, writeTimeout: writeLifetime + connectTimeout, sighting };
const longestDrain = 35_000;
const longestFlush = 2_000;
const secondsUntilKey = 5;
const keyMissing = 'the sealing key is not available yet';

async function main(): Promise<void> {
  const { config, connection, opened } = await start(process.env, process.argv.slice(2));
  const definitions = defineMetrics();
  const instrument = (transport: Transport) => countRequests(transport, definitions);
  const cluster = createCluster(connection, { writeTimeout: writeLifetime, instrument });
  const inventory = createInventory(cluster.transport, config);
  const events = createEventRecorder(cluster.transport);
  const keys: SealingKeys = { latest: undefined };
  const over = new AbortController();
  const crossplane: Awaiting['crossplane'] = {};
  const sealer = sealerOf(keys);
  const [expressions, manifests] = [createExpressions(), createManifests()];
  const isEnding = () => over.signal.aborted;
  const app = buildApp({
    connectHook: (record) => hookOf({ ...engineOf(config), cluster, keys, sealer, expressions, manifests, record, isEnding }),
    recordEvent: events.record,
    // Readiness does not depend on the API server. If it did, all replicas would leave the Service when the API server stops. Then calls of
    // Metacontroller would fail, with ever longer backoffs, instead of getting 429.
    readiness: () => (keys.latest === undefined ? keyMissing : undefined),
    access: opened.access,
    metrics: createMetrics({ definitions, inventory, monotonic: clock.monotonic }),
    bodyLimit: config.bodyLimit,
    logLevel: config.logLevel,
    ...(config.packages === undefined ? {} : { packages: connectPackages(config.packages, cluster, () => crossplane.found) }),
  });
  await listen(app, config);
  if (opened.access.acceptsToken === undefined)
    app.server.log.warn('authentication disabled (--insecure): anyone who can reach this port may call the hook');
  endOnSignals({ app, events, cluster, threads: [expressions, manifests], over });
  const { engineNamespace, namespaces } = config;
  await Promise.all([
    runInBackground({ app, cluster, keys, sealer, opened, engineNamespace, namespaces }, over.signal),
    awaitCrossplane({ app, cluster, packages: config.packages, crossplane }, over.signal),
    followDefinitions({ app, cluster, packages: config.packages, found: () => crossplane.found }, over.signal),
  ]);
}

interface Awaiting {
  readonly app: App;
  readonly cluster: KubernetesCluster;
  readonly packages: PackagesConfig | undefined;
  readonly crossplane: { found?: CrossplaneState };
}

/** Until a Crossplane suits the settings, package transactions wait. The hook serves Transactions meanwhile. */
async function awaitCrossplane(awaiting: Awaiting, over: AbortSignal): Promise<void> {
  if (awaiting.packages === undefined) return;
  const packages = awaiting.packages;
  while (awaiting.crossplane.found?.kind !== 'ok' && !over.aborted) {
    const pauseMs = note(awaiting, await suitsCrossplane(awaiting.cluster, packages));
    if (pauseMs > 0) await sleep(pauseMs, undefined, { signal: over }).catch(() => undefined);
  }
}

const readIntervalMs = 1_000;
const faultIntervalMs = 5_000;

/** Keeps what was found. Returns the time in ms until the next read. */
function note({ app, crossplane }: Awaiting, answer: Awaited<ReturnType<typeof suitsCrossplane>>): number {
  if (answer.kind === 'failed') {
    app.server.log.warn({ trouble: answer.failure.message }, 'the Deployments of Crossplane cannot be read');
    return readIntervalMs;
  }
  const before = crossplane.found;
  crossplane.found = answer;
  if (answer.kind === 'ok') return 0;
  if (before?.kind !== 'fault' || before.fault !== answer.fault)
    app.server.log.error({ fault: answer.fault }, 'package transactions wait: Crossplane does not suit the settings');
  return faultIntervalMs;
}

async function listen(app: App, { port, host }: Config): Promise<void> {
  try {
    await app.server.listen({ port, host });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    refuse([`PORT and HOST: cannot listen on port ${port} of ${host} (${code})`]);
  }
}

function refuse(faults: readonly string[]): never {
  process.stderr.write(`The hook cannot start:\n${faults.map((fault) => `- ${fault}\n`).join('')}`);
  process.exit(1);
}

interface Start {
  readonly config: Config;
  readonly connection: Connection;
  readonly opened: OpenAccess;
}

async function start(environment: NodeJS.ProcessEnv, flags: readonly string[]): Promise<Start> {
  const read = readConfig(environment, flags);
  const connected = await connectionOf(environment);
  const opened: Parsed<OpenAccess> = read.kind === 'ok' ? openAccess(read.config) : { kind: 'faults', faults: [] };
  if (read.kind === 'ok' && connected.kind === 'ok' && opened.kind === 'ok')
    return { config: read.config, connection: connected.value, opened: opened.value };
  return refuse([read, connected, opened].flatMap((result) => (result.kind === 'faults' ? result.faults : [])));
}

async function connectionOf(environment: NodeJS.ProcessEnv): Promise<Parsed<Connection>> {
  const apiServer = apiServerOf(environment);
  if (apiServer === undefined) return { kind: 'faults', faults: [] };
  try {
    return { kind: 'ok', value: await connect(apiServer) };
  } catch (error) {
    const name = apiServer.kind === 'pod' ? 'KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT' : 'KUBECONFIG';
    return { kind: 'faults', faults: [`${name}: ${error instanceof Error ? error.message : 'cannot be used'}`] };
  }
}

function engineOf(config: Config): Pick<HookParts, 'engineNamespace' | 'namespaces' | 'timing'> {
  const { callBudget, readAge, engineNamespace, namespaces, parallel } = config;
  return { engineNamespace, namespaces, timing: { ...limits, callBudget, readAge, parallel } };
}

type HookParts = Pick<
  EngineParts,
  'engineNamespace' | 'namespaces' | 'record' | 'timing' | 'isEnding' | 'expressions' | 'manifests'
> & {
  readonly cluster: KubernetesCluster;
  readonly keys: SealingKeys;
  readonly sealer: Sealer;
};

function sealerOf(keys: SealingKeys): Sealer {
  return createSealer(() => {
    if (keys.latest === undefined) throw new Error('the sealer was used before the sealing key was available');
    return keys.latest;
  });
}

function hookOf({ keys, ...parts }: HookParts): Hook {
  const sync = createSync({ clock, ...parts });
  const keyless: Reply = { kind: 'retry', retryAfterSeconds: secondsUntilKey, because: keyMissing };
  return async (call) => (keys.latest === undefined ? keyless : sync(call));
}

interface Ends {
  readonly app: App;
  readonly events: EventRecorder;
  readonly cluster: KubernetesCluster;
  readonly threads: readonly { close(): Promise<void> }[];
  readonly over: AbortController;
}

function endOnSignals(parts: Ends): void {
  let ending = false;
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (ending) return;
      ending = true;
      void end(parts);
    });
  }
}

async function end({ app, events, cluster, threads, over }: Ends): Promise<void> {
  app.server.log.info('draining in-flight calls before shutdown');
  setTimeout(() => process.exit(1), longestDrain).unref();
  over.abort();
  await app.drain();
  await Promise.all(threads.map((thread) => thread.close()));
  await events.flush(longestFlush);
  await cluster.close();
  app.server.log.info('shut down');
}

await main();
