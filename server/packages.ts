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
 * In ms. `deadline` and `sendingTime`: of the 30 s for which Metacontroller waits. `lateWindow`: beyond the sending time the lifetime of a
 * write, with 3 s for a new connection (server/main.ts), and 2 s to spare.
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
