// Starts the hook: configuration, connection, engine, web server; ends it on SIGTERM once the step in hand is finished.
// The only file with effects at import.
//
// It listens before the API server answers, so that a Pod is alive though not ready while the cluster is away; until the
// sealing key is there every call is asked to come again.
import type { EngineParts, Hook, Reply, Timing } from '../hooks/call.ts';
import type { Sealer } from '../hooks/cluster.ts';
import { createSync } from '../hooks/sync.ts';
import type { Parsed } from './access/files.ts';
import { type OpenAccess, openAccess } from './access/open.ts';
import { type App, buildApp } from './app.ts';
import { clock } from './clock.ts';
import { type Config, readConfig } from './config.ts';
import { createCensus } from './kubernetes/census.ts';
import { createCluster, type KubernetesCluster } from './kubernetes/cluster.ts';
import { type Connection, loadConnection } from './kubernetes/connection.ts';
import { createStoryteller, type Storyteller } from './kubernetes/events.ts';
import { connectTimeout } from './kubernetes/pools.ts';
import { createSealer } from './kubernetes/sealer.ts';
import { createMetrics } from './metrics.ts';
import { cachedReadiness } from './routes/probes.ts';
import { type Keys, keepUp } from './upkeep.ts';

// A call starts no request after its deadline. What it started last may still take effect for as long as a write lives, and as
// a new connection for it takes: the engine judges nothing that may be under way before that.
const writeLifetime = 10_000;
// The API server itself takes the token of a ServiceAccount that was deleted for up to 10 s more.
const sighting = 1_000;
const limits: Timing = { stepDeadline: 16_000, writeTimeout: writeLifetime + connectTimeout, sighting };
const readinessInterval = 5_000;
const longestDrain = 35_000;
const longestFlush = 2_000;
const secondsUntilKey = 5;

async function main(): Promise<void> {
  const { config, connection, opened } = start(process.env, process.argv.slice(2));
  const metrics = createMetrics(clock.monotonic);
  const cluster = createCluster(connection, { writeTimeout: writeLifetime, observe: metrics.apiRequest });
  metrics.take(createCensus(cluster.transport, config));
  const story = createStoryteller(cluster.transport);
  const keys: Keys = { latest: undefined };
  const over = new AbortController();
  const sealer = sealerOf(keys);
  const app = buildApp({
    connectHook: (record) => hookOf({ ...engineOf(config), cluster, keys, sealer, record, isEnding: () => over.signal.aborted }),
    tell: story.tell,
    readiness: readinessOf(cluster, keys),
    access: opened.access,
    metrics,
    bodyLimit: config.bodyLimit,
    logLevel: config.logLevel,
  });
  await listen(app, config);
  if (opened.access.acceptsToken === undefined) app.server.log.warn('no token is asked for: whoever reaches this port may call');
  endOnSignals({ app, story, cluster, over });
  await keepUp(
    { app, cluster, keys, sealer, opened, engineNamespace: config.engineNamespace, namespaces: config.namespaces },
    over.signal,
  );
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

function start(environment: NodeJS.ProcessEnv, flags: readonly string[]): Start {
  const read = readConfig(environment, flags);
  const connected = connect(environment);
  const opened: Parsed<OpenAccess> = read.kind === 'ok' ? openAccess(read.config) : { kind: 'faults', faults: [] };
  if (read.kind === 'ok' && connected.kind === 'ok' && opened.kind === 'ok')
    return { config: read.config, connection: connected.value, opened: opened.value };
  return refuse([read, connected, opened].flatMap((result) => (result.kind === 'faults' ? result.faults : [])));
}

function connect({ KUBECONFIG = '', KUBERNETES_SERVICE_HOST = '' }: NodeJS.ProcessEnv): Parsed<Connection> {
  if (KUBECONFIG === '' && KUBERNETES_SERVICE_HOST === '') return { kind: 'faults', faults: [] };
  try {
    return { kind: 'ok', value: loadConnection(KUBECONFIG === '' ? {} : { kubeconfig: KUBECONFIG }) };
  } catch (error) {
    return { kind: 'faults', faults: [`KUBECONFIG: ${error instanceof Error ? error.message : 'cannot be used'}`] };
  }
}

function engineOf({
  callBudget,
  lookAge,
  engineNamespace,
  namespaces,
}: Config): Pick<HookParts, 'engineNamespace' | 'namespaces' | 'timing'> {
  return { engineNamespace, namespaces, timing: { ...limits, callBudget, lookAge } };
}

type HookParts = Pick<EngineParts, 'engineNamespace' | 'namespaces' | 'record' | 'timing' | 'isEnding'> & {
  readonly cluster: KubernetesCluster;
  readonly keys: Keys;
  readonly sealer: Sealer;
};

function sealerOf(keys: Keys): Sealer {
  return createSealer(() => {
    if (keys.latest === undefined) throw new Error('sealing was asked for before the sealing key was there');
    return keys.latest;
  });
}

function hookOf({ keys, ...parts }: HookParts): Hook {
  const sync = createSync({ clock, ...parts });
  const keyless: Reply = { kind: 'retry', retryAfterSeconds: secondsUntilKey, because: 'the sealing key is not there yet' };
  return async (call) => (keys.latest === undefined ? keyless : sync(call));
}

function readinessOf(cluster: KubernetesCluster, keys: Keys): () => Promise<string | undefined> {
  const ask = async () => ((await cluster.trouble()) === undefined ? undefined : 'the API server does not answer');
  const apiServer = cachedReadiness(ask, readinessInterval, clock.monotonic);
  return async () => (keys.latest === undefined ? 'the sealing key is not there yet' : apiServer());
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
