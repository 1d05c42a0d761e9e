// Bad Transactions, of many kinds: each is refused when it is created, or ends with a reason of its own where it gets past that. Nothing
// but locks is ever written, and no lock stays.
//
// `JANUS_FUZZ_TRANSACTIONS=5000 npm test -- test/threats/bad-transactions.test.ts` makes five thousand; JANUS_TEST_SEED other ones.
import t, { type Test } from 'tap';
import { at, isList, isObject, type Json, type JsonObject, textAt, withPath } from '../../hooks/objects/json.ts';
import { holds } from '../manifests/samples.ts';
import { type Client, must, waitFor } from '../support/client.ts';
import { engineNamespace } from '../support/install.ts';
import { share } from '../support/selection.ts';
import { type Stage, startStage } from '../support/stage.ts';
import { createConfigMaps } from '../support/targets.ts';
import { badTransactions } from './bad/all.ts';
import type { BadTransaction } from './bad/specs.ts';
import { each, sample, seed } from './chance.ts';
import { openGhosts, type RunGhost } from './ghosts.ts';

const wanted = Number(process.env.JANUS_FUZZ_TRANSACTIONS ?? share(150, 500));
const atOnce = 4;

interface Case {
  readonly name: string;
  readonly spec: JsonObject;
  readonly annotations: JsonObject;
}

function casesOf(kind: BadTransaction, count: number): readonly Case[] {
  const specs = sample(kind.spec, kind.name, count);
  const annotations = kind.annotations === undefined ? [] : sample(kind.annotations, `${kind.name}, annotated`, count);
  const own = kind.name.replaceAll(/[^a-z0-9]+/gi, '-').toLowerCase();
  return specs.map((spec, index) => {
    const name = `${own.slice(0, 40)}-${index}`;
    return { name, spec: withOwnTargets(spec, name), annotations: annotations[index] ?? {} };
  });
}

/** They run beside each other, and shall not wait for each other's locks. */
function withOwnTargets(spec: JsonObject, name: string): JsonObject {
  const changes = at(spec, 'changes');
  if (!isList(changes)) return spec;
  const own = (change: Json): Json =>
    isObject(change) && textAt(change, 'target', 'name') === 'fuzzed' ? withPath(change, ['target', 'name'], name) : change;
  return { ...spec, changes: changes.map(own) };
}

/** What the API server says to it; empty where it is admitted. */
async function admissionOf(client: Client, namespace: string, { name, spec, annotations }: Case): Promise<string> {
  const object = { apiVersion: 'tx.janus.io/v1alpha1', kind: 'Transaction', metadata: { name, annotations }, spec };
  const path = `/apis/tx.janus.io/v1alpha1/namespaces/${namespace}/transactions`;
  const answer = await client.create(path, object, { dryRun: 'All' });
  if (answer.code === 201) return '';
  return answer.code >= 500 ? `HTTP ${answer.code}` : (textAt(answer.body, 'message') ?? answer.text);
}

async function showEnd(t: Test, kind: BadTransaction, one: Case, run: RunGhost): Promise<void> {
  if (kind.end === undefined) return;
  const [reason, message] = kind.end;
  const ended = await run(one.name, one.spec, one.annotations);
  const isGood =
    ended.reason === reason &&
    message.test(textAt(ended.status, 'message') ?? '') &&
    textAt(ended.status, 'phase') === 'Failed' &&
    ended.writes.every(({ location }) => location.resource.kind === 'Lease');
  if (!isGood) t.match(ended, { reason, status: { phase: 'Failed', message } }, `${one.name}: ${shown(one)}`);
}

function shown({ spec }: Case): string {
  return JSON.stringify(spec, (_key, value: unknown) => (typeof value === 'string' ? value.slice(0, 80) : value)).slice(0, 300);
}

async function startPlace(t: Test): Promise<Stage> {
  const stage = await startStage(t, { withoutLoop: true });
  must(await stage.client.create(stage.path('serviceaccounts'), { metadata: { name: 'nobody' } }));
  await createConfigMaps(stage, ['present']);
  const finalizers = ['tx.janus.io/snapshot'];
  must(await stage.client.create(stage.path('configmaps'), { metadata: { name: 'held-rollback', finalizers } }));
  // A policy takes effect a moment after it was written.
  const target = { apiVersion: 'v1', kind: 'ConfigMap', namespace: engineNamespace, name: 'probe' };
  const spec = { serviceAccountName: 'deployer', changes: [{ type: 'Delete', target }] };
  const probe = { name: 'probe', spec, annotations: {} };
  await waitFor(async () => (await admissionOf(stage.client, stage.namespace, probe)) !== '', 'the policy to take effect');
  return stage;
}

t.test('the engine refuses bad Transactions', async (t) => {
  const stage = await startPlace(t);
  const { namespace } = stage;
  const run = openGhosts(t, stage);
  const kinds = badTransactions({ namespace, present: 'present' });
  t.ok(kinds.length >= 20, `${kinds.length} kinds, seed ${seed}`);
  t.equal(new Set(kinds.map(({ name }) => name)).size, kinds.length, 'each has a name of its own');
  const before = await worldOf(stage);
  const small = kinds.filter(({ most }) => most === undefined).length;
  const rest = wanted - kinds.reduce((sum, { most = 0 }) => sum + Math.min(most, wanted), 0);
  let made = 0;
  for (const kind of kinds) {
    await t.test(`${kind.name}${kind.end === undefined ? '' : `: ${kind.end[0]}`}`, async (t) => {
      const cases = casesOf(kind, kind.most ?? Math.ceil(rest / small));
      await each(cases, atOnce, async (one) => {
        await showAdmission(t, kind, one, stage);
        await showEnd(t, kind, one, run);
      });
      made += cases.length;
      t.pass(`${cases.length} of them`);
    });
  }
  t.ok(made >= wanted, `${made} Transactions`);
  t.same(await worldOf(stage), before, 'nothing was written');
  t.same(await stage.leases(), [], 'nothing stays locked');
  t.equal(({} as Record<string, unknown>).x, undefined, 'no prototype has changed');
});

async function showAdmission(t: Test, kind: BadTransaction, one: Case, { client, namespace }: Stage): Promise<void> {
  if (kind.admission === 'not sent') return;
  const said = await admissionOf(client, namespace, one);
  const isGood = kind.admission === undefined ? said === '' : holds(said, kind.admission);
  if (!isGood) t.equal(said, kind.admission ?? '', `the API server: ${one.name} ${shown(one)}`);
}

/** Everything in the namespace, by its version. */
async function worldOf({ client, path }: Stage): Promise<readonly string[]> {
  const lists = await Promise.all(
    ['configmaps', 'secrets', 'serviceaccounts', 'apps/v1/deployments', 'tx.janus.io/v1alpha1/transactions'].map((suffix) =>
      client.list(path(suffix)),
    ),
  );
  return lists
    .flatMap(({ items }) =>
      items.map((item) => `${textAt(item, 'metadata', 'name')} ${textAt(item, 'metadata', 'resourceVersion')}`),
    )
    .sort();
}
