// Starts the hook: configuration, connection, engine, web server; ends it on SIGTERM once the step in hand is finished.
// The only file with effects at import.
//
// It listens before the API server answers, so that a Pod is alive though not ready while the cluster is away; until the
// sealing key is there every call is asked to come again.
import { setTimeout as sleep } from 'node:timers/promises';
import type { EngineParts, Hook, Timing } from '../hooks/call.ts';
import { sweepLeases, sweepSnapshots } from '../hooks/sweep.ts';
import { createSync } from '../hooks/sync.ts';
import { type App, buildApp } from './app.ts';
import { type Config, readConfig } from './config.ts';
import { createCluster, type KubernetesCluster } from './kubernetes/cluster.ts';
import { type Connection, loadConnection } from './kubernetes/connection.ts';
import { createStoryteller, type Storyteller } from './kubernetes/events.ts';
import { connectTimeout } from './kubernetes/pools.ts';
import { createSealer, type KeyRing } from './kubernetes/sealer.ts';
import { ensureSealingKeys, type KeyRingAnswer, readSealingKeys } from './kubernetes/sealing-key.ts';
import { cachedReadiness } from './routes/probes.ts';
import { errorFields } from './telemetry.ts';

// A call starts no request after its deadline. What it started last may still take effect for as long as a write lives, and as
// a new connection for it takes: the engine judges nothing that may be under way before that.
const writeLifetime = 10_000;
const timing: Timing = { stepDeadline: 16_000, writeTimeout: writeLifetime + connectTimeout };
const keyReadInterval = 60_000;
const sweepInterval = 600_000;
const readinessInterval = 5_000;
const longestDrain = 35_000;
const longestFlush = 2_000;
const secondsUntilKey = 5;

const clock = { monotonic: () => performance.now() };

interface Keys {
  latest: KeyRing | undefined;
}

async function main(): Promise<void> {
  const { config, connection } = start(process.env);
  const cluster = createCluster(connection, { writeTimeout: writeLifetime });
  const story = createStoryteller(cluster.transport);
  const keys: Keys = { latest: undefined };
  const app = buildApp({
    connectHook: (record) => hookOf({ cluster, keys, engineNamespace: config.engineNamespace, record }),
    tell: story.tell,
    readiness: readinessOf(cluster, keys),
    bodyLimit: config.bodyLimit,
    logLevel: config.logLevel,
  });
  await listen(app, config);
  const over = new AbortController();
  endOnSignals({ app, story, cluster, over });
  const running = { app, cluster, keys, config };
  await Promise.all([keepKeys(running, over.signal), keepSwept(running, over.signal)]);
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

function start(environment: NodeJS.ProcessEnv): { readonly config: Config; readonly connection: Connection } {
  const read = readConfig(environment);
  const connected = connect(environment);
  if (read.kind === 'ok' && connected.kind === 'ok') return { config: read.config, connection: connected.connection };
  return refuse([read, connected].flatMap((result) => (result.kind === 'faults' ? result.faults : [])));
}

type Connected =
  | { readonly kind: 'ok'; readonly connection: Connection }
  | { readonly kind: 'faults'; readonly faults: readonly string[] };

function connect({ KUBECONFIG = '', KUBERNETES_SERVICE_HOST = '' }: NodeJS.ProcessEnv): Connected {
  if (KUBECONFIG === '' && KUBERNETES_SERVICE_HOST === '') return { kind: 'faults', faults: [] };
  try {
    return { kind: 'ok', connection: loadConnection(KUBECONFIG === '' ? {} : { kubeconfig: KUBECONFIG }) };
  } catch (error) {
    return { kind: 'faults', faults: [`KUBECONFIG: ${error instanceof Error ? error.message : 'cannot be used'}`] };
  }
}

type HookParts = Pick<EngineParts, 'engineNamespace' | 'record'> & {
  readonly cluster: KubernetesCluster;
  readonly keys: Keys;
};

function hookOf({ cluster, keys, engineNamespace, record }: HookParts): Hook {
  const sealer = createSealer(() => {
    if (keys.latest === undefined) throw new Error('sealing was asked for before the sealing key was there');
    return keys.latest;
  });
  const sync = createSync({ cluster, sealer, clock, timing, engineNamespace, record });
  return async (call) => (keys.latest === undefined ? { kind: 'retry', retryAfterSeconds: secondsUntilKey } : sync(call));
}

function readinessOf(cluster: KubernetesCluster, keys: Keys): () => Promise<string | undefined> {
  const ask = async () => ((await cluster.trouble()) === undefined ? undefined : 'the API server does not answer');
  const apiServer = cachedReadiness(ask, readinessInterval, clock.monotonic);
  return async () => (keys.latest === undefined ? 'the sealing key is not there yet' : apiServer());
}

interface Running {
  readonly app: App;
  readonly cluster: KubernetesCluster;
  readonly keys: Keys;
  readonly config: Config;
}

// Makes the key once, however long the API server takes, and then follows its rotation.
async function keepKeys({ app, cluster, keys, config }: Running, over: AbortSignal): Promise<void> {
  let delay = 500;
  while (!over.aborted) {
    const ask = keys.latest === undefined ? ensureSealingKeys : readSealingKeys;
    const answer = await ask(cluster, config.engineNamespace);
    if (answer.kind === 'ok') keys.latest = answer.keyRing;
    else tellTrouble(app, answer, config);
    delay = keys.latest === undefined ? Math.min(delay * 2, 30_000) : keyReadInterval;
    await sleep(delay, undefined, { signal: over }).catch(() => undefined);
  }
}

function tellTrouble(app: App, answer: Exclude<KeyRingAnswer, { kind: 'ok' }>, config: Config): void {
  const { reason, message } = answer.failure;
  app.server.log.warn({ reason, trouble: message, namespace: config.engineNamespace }, 'the sealing key cannot be read');
}

// Locks and snapshots that nobody is left to let go.
async function keepSwept({ app, cluster, config }: Running, over: AbortSignal): Promise<void> {
  while (!over.aborted) {
    try {
      const swept = (await sweepLeases(cluster, config.engineNamespace)) + (await sweepSnapshots(cluster));
      if (swept > 0) app.server.log.info({ swept }, 'what Transactions that are no more have left is gone');
    } catch (error) {
      app.server.log.error(errorFields(error), 'what Transactions that are no more have left could not be swept');
    }
    await sleep(sweepInterval, undefined, { signal: over }).catch(() => undefined);
  }
}

interface Ends {
  readonly app: App;
  readonly story: Storyteller;
  readonly cluster: KubernetesCluster;
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

async function end({ app, story, cluster, over }: Ends): Promise<void> {
  app.server.log.info('shutting down once the steps in hand are finished');
  setTimeout(() => process.exit(1), longestDrain).unref();
  over.abort();
  await app.drain();
  await story.flush(longestFlush);
  await cluster.close();
  app.server.log.info('shut down');
}

await main();
