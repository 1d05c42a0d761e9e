// Measures the cost of a Delete if its ServiceAccount may list few kinds, or many. The engine looks for dependents in all these kinds.
import { createCluster } from '../../server/kubernetes/cluster.ts';
import { kubeconfigConnection } from '../../server/kubernetes/kubeconfig-connection.ts';
import { must, waitFor } from '../../test/support/client.ts';
import { type Line, lineOf } from './figures.ts';
import { inParallel, measure } from './measure.ts';
import type { Row } from './rows.ts';
import { account, namespace, type World } from './world.ts';

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const group = 'bench.example.org';
const atOnce = 8;
const row: Row = { name: '', changes: 1, transactions: 20, concurrency: 1, hook: 'janus', flags: 'tuned', deletes: {} };
const without = { ...row, name: 'without-looking', deletes: { 'tx.janus.io/allow-irreversible': 'true' } };

export async function measureKinds(world: World): Promise<readonly Line[]> {
  const lines = await linesOf(world, { ...without, name: 'delete-warm-up', transactions: 50 });
  lines.push(...(await linesOf(world, without)));
  for (const count of [10, 60, 500]) {
    await allow(world, count);
    lines.push(...(await linesOf(world, { ...row, name: `kinds-${count}` })));
  }
  return lines;
}

async function linesOf(world: World, which: Row): Promise<Line[]> {
  return (await measure(world, which)).map(lineOf);
}

/** Allows the ServiceAccount to list exactly that many kinds; creates the kinds that the cluster lacks. */
async function allow({ client, kubeconfig }: World, count: number): Promise<void> {
  const found = await kindsOf(kubeconfig);
  const missing = Array.from({ length: Math.max(0, count - found.length) }, (_, index) => `kind${index + found.length}s`);
  await inParallel(missing, atOnce, async (plural) => void must(await client.create(definitions, definitionOf(plural))));
  const all = await waitFor(
    async () => {
      const now = await kindsOf(kubeconfig);
      return now.length >= count ? now : undefined;
    },
    `${count} kinds to be served`,
    { timeoutMs: 300_000, everyMs: 1_000 },
  );
  const listed = all
    .slice(0, count)
    .map(([apiGroup, plural]) => ({ apiGroups: [apiGroup], resources: [plural], verbs: ['list'] }));
  const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['*'] }, ...listed];
  must(await client.patch(`/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/roles/${account}`, { rules }));
}

/** Group and plural of the namespaced kinds whose objects can be dependents. */
async function kindsOf(kubeconfig: string): Promise<readonly (readonly [group: string, plural: string])[]> {
  const cluster = createCluster(kubeconfigConnection(kubeconfig), { writeTimeout: 10_000 });
  const served = await cluster.resources();
  await cluster.close();
  if (served.kind === 'failed')
    throw new Error(`the resources that the API server serves cannot be read: ${served.failure.message}`);
  const collected = served.resources.filter(
    ({ namespaced, plural, verbs }) =>
      namespaced && plural !== 'events' && ['list', 'watch', 'delete'].every((verb) => verbs.includes(verb)),
  );
  return collected.map((resource) => [resource.group, resource.plural]);
}

function definitionOf(plural: string) {
  const kind = `K${plural.slice(1)}`;
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  const versions = [{ name: 'v1', served: true, storage: true, schema }];
  const names = { plural, singular: plural, kind, listKind: `${kind}List` };
  return { metadata: { name: `${plural}.${group}` }, spec: { group, scope: 'Namespaced', names, versions } };
}
