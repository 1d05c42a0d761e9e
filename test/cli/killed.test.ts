// A command line that is killed changes nothing of the outcome: at whatever status, what becomes of the Transaction is what becomes of
// one that no command follows. The test plays Metacontroller one call at a time, so that each status stays.
import t from 'tap';
import type { Answer, Cluster } from '../../hooks/objects/cluster.ts';
import { at, type Json, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { isTerminal, type Phase, phases } from '../../hooks/transactions/model/phase.ts';
import { openCli } from '../support/cli.ts';
import { must, waitFor } from '../support/client.ts';
import { account, comparable, startStage } from '../support/stage.ts';
import { stepToEnd, stepUntil } from '../support/stepping.ts';
import { change, createConfigMaps } from '../support/targets.ts';

/** Whether the API server gives the engine no answer to dry runs: the Transaction then stays in Preparing. */
let isSilent = false;
const silence: Answer = {
  kind: 'failed',
  failure: { kind: 'transient', code: 0, reason: 'ConnectionFailed', message: '', fields: [], definitive: true },
};
const wrap = (cluster: Cluster): Cluster => ({
  ...cluster,
  dryRun: async (write) => (isSilent ? silence : cluster.dryRun(write)),
});
const stage = await startStage(t, { withoutLoop: true, wrap });
const cli = await openCli(t, stage.kubeconfig);
const where = ['-n', stage.namespace];
const red = { data: { color: 'red' } };

function fileOf(name: string): string {
  const spec = { serviceAccountName: account, changes: [`${name}-a`, `${name}-b`].map((target) => change('Patch', target, red)) };
  const metadata = { name, namespace: stage.namespace };
  return cli.write(`${name}.json`, JSON.stringify({ apiVersion: 'tx.janus.io/v1alpha1', kind: 'Transaction', metadata, spec }));
}

async function reach(name: string, phase: Phase): Promise<void> {
  if (phase === 'Pending') return;
  isSilent = phase === 'Preparing';
  if (phase === 'RollingBack') {
    await stepUntil(stage, name, 'Committing');
    await stage.annotate(name, { 'tx.janus.io/request-rollback': 'by-test' });
  }
  await stepUntil(stage, name, phase);
  isSilent = false;
}

/** What has become of it and of its objects, without its name, times and versions. */
async function outcomeOf(name: string): Promise<Json> {
  const { status } = await stepToEnd(stage, name);
  const objects = await Promise.all(
    ['a', 'b'].map(async (end) => comparable(must(await stage.client.get(stage.path(`configmaps/${name}-${end}`))), true)),
  );
  const states = (at(status, 'items') as readonly JsonObject[]).map((item) => textAt(item, 'state') ?? '');
  const text = JSON.stringify([textAt(status, 'phase') ?? '', textAt(status, 'message') ?? '', states, objects]);
  // A field manager of the engine ends in a part of the uid.
  return JSON.parse(text.replaceAll(name, 'NAME').replaceAll(/(?<=janus-NAME-)[0-9a-f]{8}/g, 'UID')) as Json;
}

for (const phase of phases.filter((one) => !isTerminal(one)))
  t.test(`the Transaction goes on after its command is killed at ${phase}`, async (t) => {
    const [followed, alone] = [`followed-${phase.toLowerCase()}`, `alone-${phase.toLowerCase()}`];
    await createConfigMaps(
      stage,
      [followed, alone].flatMap((name) => [`${name}-a`, `${name}-b`]),
    );
    const running = cli.start(['apply', '-f', fileOf(followed), '--wait']);
    await waitFor(() => running.out().includes('pending: '), 'it to be followed');
    await reach(followed, phase);
    running.process.kill('SIGKILL');
    t.equal((await running.finished).code, null);
    t.match(await cli.run(['apply', '-f', fileOf(alone)]), { code: 0 });
    await reach(alone, phase);
    const found = await outcomeOf(followed);
    t.same(found, await outcomeOf(alone));
    t.match(found, [phase === 'RollingBack' ? 'RolledBack' : 'Committed']);
  });

t.test('the request takes effect although its command is killed after the write', async (t) => {
  await createConfigMaps(stage, ['undone-a', 'undone-b']);
  t.match(await cli.run(['apply', '-f', fileOf('undone')]), { code: 0 });
  await stepToEnd(stage, 'undone');
  const running = cli.start(['undo', 'undone', ...where, '--yes', '--wait']);
  await waitFor(() => running.out().includes('undo requested'), 'the request');
  running.process.kill('SIGKILL');
  await running.finished;
  await stepUntil(stage, 'undone', 'RolledBack');
  t.equal(textAt(must(await stage.client.get(stage.path('configmaps/undone-a'))), 'data', 'color'), 'blue');
});
