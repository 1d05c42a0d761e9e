// One more engine beside the stage's own: another replica, one started after a crash, or one whose calls fail. It is called in this
// process, without a web server.

import type { Clock, Cluster, Sealer } from '../../hooks/objects/cluster.ts';
import { at, isObject, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import type { StepReport, Timing } from '../../hooks/transactions/call.ts';
import { createSync } from '../../hooks/transactions/reconcile.ts';
import { clock as real } from '../../server/clock.ts';
import { createCluster, type KubernetesCluster } from '../../server/kubernetes/cluster.ts';
import { createSealer } from '../../server/kubernetes/sealer.ts';
import { ensureSealingKeys } from '../../server/kubernetes/sealing-key.ts';
import { type Teardown, waitFor } from './client.ts';
import { engineNamespace } from './install.ts';
import { connectionOf } from './kubeconfig.ts';
import { manifests } from './manifests.ts';
import type { Stage } from './stage.ts';
import { surface } from './surface.ts';

export interface EngineOptions {
  readonly wrap?: (cluster: Cluster) => Cluster;
  readonly timing?: Partial<Timing>;
  readonly clock?: Clock;
  /** Without it, a step that throws makes the call throw. */
  readonly record?: (report: StepReport) => void;
  readonly isEnding?: () => boolean;
  /** Instead of a sealer with the key of the suite's cluster. */
  readonly sealer?: Sealer;
}

/** Engines over one connection, for one stage. Each returns a copy of the stage that calls that engine. */
export interface Engines {
  start(options?: EngineOptions): Stage;
}

const timing: Timing = { stepDeadline: 20_000, writeTimeout: 10_000 };

export async function openEngines(t: Teardown, stage: Stage, connection: Partial<Timing> = {}): Promise<Engines> {
  const cluster = createCluster(connectionOf(stage.engineKubeconfig), { ...timing, ...connection });
  t.teardown(() => cluster.close());
  const common = await sealerOf(cluster);
  return {
    start: ({ wrap = (plain: Cluster) => plain, record = surface, sealer = common, clock = real, ...options } = {}) => {
      const hook = createSync({
        cluster: wrap(cluster),
        sealer,
        manifests,
        clock,
        timing: { ...timing, ...connection, ...options.timing },
        engineNamespace,
        record,
        ...(options.isEnding === undefined ? {} : { isEnding: options.isEnding }),
      });
      return { ...stage, call: async (name) => answerOf(await hook(callFor(await stage.read(name)))) };
    },
  };
}

/** A sealer with the key of the suite's cluster. */
export async function sealerOf(cluster: KubernetesCluster): Promise<ReturnType<typeof createSealer>> {
  const keys = await waitFor(async () => {
    const answer = await ensureSealingKeys(cluster, engineNamespace);
    return answer.kind === 'ok' ? answer.keyRing : undefined;
  }, 'the sealing key');
  return createSealer(() => keys);
}

type Hook = ReturnType<typeof createSync>;

function callFor(parent: JsonObject): Parameters<Hook>[0] {
  const status = at(parent, 'status');
  const [namespace = '', name = '', uid = ''] = ['namespace', 'name', 'uid'].map((key) => textAt(parent, 'metadata', key));
  return { namespace, name, uid, status: isObject(status) ? status : {}, children: [] };
}

function answerOf(reply: Awaited<ReturnType<Hook>>): Awaited<ReturnType<Stage['call']>> {
  if (reply.kind === 'retry') return { code: 429, body: { retryAfterSeconds: reply.retryAfterSeconds }, text: '' };
  const { status, resyncAfterSeconds, finalized } = reply;
  return { code: 200, body: { status, children: [], resyncAfterSeconds, finalized }, text: '' };
}
