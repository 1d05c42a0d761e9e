// Connects the coordinator of packages to the cluster and to registries, and looks for CRDs that somebody has deleted.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Opening, PackageCall, PackageReply } from '../hooks/crossplane/call.ts';
import { createDefinitionCheck, type DefinitionCheck } from '../hooks/crossplane/definitions.ts';
import { readCompleteVersion } from '../hooks/crossplane/model/version.ts';
import { createOwnSync } from '../hooks/crossplane/own.ts';
import { createPackageSync } from '../hooks/crossplane/reconcile.ts';
import type { Cluster } from '../hooks/objects/cluster.ts';
import type { App, ConnectPackages } from './app.ts';
import { clock } from './clock.ts';
import type { PackagesConfig } from './config.ts';
import type { CrossplaneState } from './crossplane.ts';
import { gzip } from './gzip.ts';
import { createRegistryClient } from './registry/client.ts';
import { errorFields } from './telemetry/record.ts';

const secondsUntilKnown = 2;

function later({ status }: PackageCall): PackageReply {
  return { status, resyncAfterSeconds: secondsUntilKnown, finalized: false };
}

const laterOwn = { resyncAfterSeconds: secondsUntilKnown, finalized: false } as const;

/**
 * In ms. `deadline` and `sendingTime` are parts of the 30 s for which Metacontroller waits. `lateWindow` is the time after the sending time
 * in which a write may take effect: its lifetime, 3 s for a new connection (server/main.ts), and a margin of 2 s.
 */
export const times = { deadline: 18_000, sendingTime: 25_000, lateWindow: 40_000 } as const;
const cacheBytes = 2 ** 30;

/** `found`: undefined until it is known whether Crossplane suits the mode. */
export function connectPackages(
  {
    namespace,
    cacheDirectory,
    httpHosts,
    crossplane,
    mode,
    own,
    webhookSecret,
    authority,
    trustedRoot,
    ...config
  }: PackagesConfig,
  cluster: Cluster,
  found: () => CrossplaneState | undefined,
): ConnectPackages {
  const proxy = config.proxy === '' ? undefined : { url: config.proxy, except: config.noProxy };
  const client = createRegistryClient({ cacheDirectory, cacheBytes, httpHosts, proxy });
  const version = readCompleteVersion(crossplane);
  return (record, recordOwn) => {
    const registries = { openRegistry: (opening: Opening) => client.open(opening), authority, trustedRoot };
    const shared = { cluster, clock, gzip, namespace, ...registries, ...times };
    const sync = createPackageSync({
      ...shared,
      record,
      ownMode: own,
      besideIn: () => (mode === 'beside' ? namespaceOf(found()) : undefined),
      whyToWait: () => whyOf(found()),
      ...(webhookSecret === '' ? {} : { webhookSecret }),
      ...(version === undefined ? {} : { crossplane: version }),
    });
    const ownSync = createOwnSync({ ...shared, isBeside: mode === 'beside', mode: own, record: recordOwn });
    return {
      namespace,
      hook: async (call) => (found() === undefined ? later(call) : sync(call)),
      own: async (call) => (found() === undefined ? laterOwn : ownSync(call)),
    };
  };
}

function namespaceOf(found: CrossplaneState | undefined): string | undefined {
  return found?.kind === 'ok' ? found.namespace : undefined;
}

function whyOf(found: CrossplaneState | undefined): string | undefined {
  return found?.kind === 'fault' ? found.fault : undefined;
}

interface Following {
  readonly app: Pick<App, 'server'>;
  readonly cluster: Cluster;
  readonly packages: PackagesConfig | undefined;
  readonly found: () => CrossplaneState | undefined;
}

const lookIntervalMs = 60_000;

/** Notices CRDs that somebody has deleted, until `over` is aborted. Beside Crossplane there is nothing to do: it makes them again. */
export async function followDefinitions({ app, cluster, packages, found }: Following, over: AbortSignal): Promise<void> {
  if (packages === undefined || packages.mode === 'beside') return;
  const look = createDefinitionCheck({ cluster, gzip, namespace: packages.namespace });
  while (!over.aborted) {
    const isReady = found()?.kind === 'ok';
    if (isReady) await lookOnce(app, look);
    await sleep(isReady ? lookIntervalMs : secondsUntilKnown * 1_000, undefined, { signal: over }).catch(() => undefined);
  }
}

async function lookOnce({ server }: Following['app'], look: DefinitionCheck): Promise<void> {
  try {
    const revisions = await look();
    if (revisions.length > 0) server.log.warn({ revisions }, 'CRDs of packages are gone, or there again');
  } catch (error) {
    server.log.warn(errorFields(error), 'CRDs of packages cannot be read');
  }
}
