// Connects the coordinator of packages to the cluster and to registries.
import type { Cluster } from '../hooks/objects/cluster.ts';
import { readCompleteVersion } from '../hooks/packages/model/version.ts';
import { createPackageSync } from '../hooks/packages/reconcile.ts';
import type { ConnectPackages } from './app.ts';
import { clock } from './clock.ts';
import type { PackagesConfig } from './config.ts';
import { gzip } from './gzip.ts';
import { createRegistryClient } from './registry/client.ts';

/**
 * In ms. `deadline` and `sendingTime` are parts of the 30 s for which Metacontroller waits. `lateWindow` is the time after the sending time
 * in which a write may take effect: its lifetime, 3 s for a new connection (server/main.ts), and a margin of 2 s.
 */
export const times = { deadline: 18_000, sendingTime: 25_000, lateWindow: 40_000 } as const;
const cacheBytes = 2 ** 30;

export function connectPackages(
  { namespace, cacheDirectory, httpHosts, crossplane }: PackagesConfig,
  cluster: Cluster,
): ConnectPackages {
  const client = createRegistryClient({ cacheDirectory, cacheBytes, httpHosts });
  const version = readCompleteVersion(crossplane);
  return (record) => ({
    namespace,
    hook: createPackageSync({
      cluster,
      clock,
      openRegistry: (opening) => client.open(opening),
      gzip,
      namespace,
      ...times,
      record,
      ...(version === undefined ? {} : { crossplane: version }),
    }),
  });
}
