// One connection to one cluster, for the length of a command.
import type { Identity } from '../../hooks/objects/cluster.ts';
import { parseDuration } from '../../hooks/objects/time.ts';
import { createCluster, type KubernetesCluster } from '../../server/kubernetes/cluster.ts';
import { connectionOf } from '../../server/kubernetes/kubeconfig-connection.ts';
import { wrongUse } from '../problem.ts';
import { type Environment, loadKubeConfig, type Place } from './kubeconfig.ts';
import { createWatcher, type Watcher } from './watch.ts';

export interface SessionPlace extends Place {
  readonly namespace?: string;
  readonly requestTimeout?: string;
}

export interface Session {
  /** For reads. Only writes.ts writes through it. */
  readonly cluster: KubernetesCluster;
  /** The namespace of the command line, else of the context, else `default`. */
  readonly namespace: string;
  readonly context: string;
  readonly server: string;
  readonly watcher: Watcher;
}

/** The session makes requests as its own user. */
export const caller: Identity = { kind: 'engine' };

const defaultTimeout = 30_000;
const noTimeout = 24 * 3_600_000;

/** Throws a Problem. It sends no request. */
export function openSession(place: SessionPlace, env: Environment): Session {
  const writeTimeout = timeoutOf(place.requestTimeout);
  const config = loadKubeConfig(place, env);
  const context = config.getCurrentContext();
  // Another shell may change the current context meanwhile. The credentials of another cluster must not reach this cluster.
  const load = () => loadKubeConfig({ ...place, context }, env);
  const connection = connectionOf(load);
  return {
    cluster: createCluster(connection, { writeTimeout }),
    namespace: place.namespace ?? config.getContextObject(context)?.namespace ?? 'default',
    context,
    server: config.getCurrentCluster()?.server ?? '',
    watcher: createWatcher(connection),
  };
}

function timeoutOf(text: string | undefined): number {
  if (text === undefined) return defaultTimeout;
  if (text === '0' || text === '0s') return noTimeout;
  const wished = parseDuration(/^\d+$/.test(text) ? `${text}s` : text);
  if (wished === undefined || wished < 1_000)
    throw wrongUse(`--request-timeout must be a duration of at least 1s such as 10s, or 0; found "${text}".`);
  return Math.min(wished, noTimeout);
}
