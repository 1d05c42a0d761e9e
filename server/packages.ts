// Connects the coordinator of packages to the cluster and to registries.
import type { Cluster } from '../hooks/objects/cluster.ts';
import type { PackageCall, PackageReply } from '../hooks/packages/call.ts';
import { readCompleteVersion } from '../hooks/packages/model/version.ts';
import { createOwnSync } from '../hooks/packages/own.ts';
import { createPackageSync } from '../hooks/packages/reconcile.ts';
import type { ConnectPackages } from './app.ts';
import { clock } from './clock.ts';
import type { PackagesConfig } from './config.ts';
import type { CrossplaneState } from './crossplane.ts';
import { gzip } from './gzip.ts';
import { createRegistryClient } from './registry/client.ts';

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
    const shared = { cluster, clock, gzip, namespace, ...times };
    const sync = createPackageSync({
      ...shared,
      openRegistry: (opening) => client.open(opening),
      record,
      ownMode: own,
      besideIn: () => (mode === 'beside' ? namespaceOf(found()) : undefined),
      whyToWait: () => whyOf(found()),
      ...(webhookSecret === '' ? {} : { webhookSecret }),
      authority,
      trustedRoot,
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
