// The needs of a plan, over a connection of its own as the administrator.
import { randomBytes } from 'node:crypto';
import type { PlanParts } from '../../hooks/transactions/inspection.ts';
import { clock } from '../../server/clock.ts';
import { createCluster } from '../../server/kubernetes/cluster.ts';
import { createSealer } from '../../server/kubernetes/sealer.ts';
import type { Teardown } from './client.ts';
import { engineNamespace } from './install.ts';
import { connectionOf } from './kubeconfig.ts';
import { manifests } from './manifests.ts';
import type { Stage } from './stage.ts';

export function planParts(t: Teardown, { kubeconfig }: Pick<Stage, 'kubeconfig'>): PlanParts {
  const reader = createCluster(connectionOf(kubeconfig), { writeTimeout: 10_000 });
  t.teardown(() => reader.close());
  const ring = { current: 'plan', keys: new Map([['plan', randomBytes(32)]]) };
  return { reader, engineNamespace, clock, manifests, actAs: 'serviceAccount', sealer: createSealer(() => ring) };
}
