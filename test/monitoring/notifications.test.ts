// The examples of docs/notifications.md: real ends reach a webhook. Beside this, `alerts.test.ts` tries the rule, test/gitops Argo CD's part.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { parse } from 'yaml';
import { textAt } from '../../hooks/objects/json.ts';
import { waitFor } from '../support/client.ts';
import { pathWithKubectl } from '../support/kubectl.ts';
import { root } from '../support/pages.ts';
import { ran } from '../support/program.ts';
import { startStage } from '../support/stage.ts';
import { change } from '../support/targets.ts';
import { openWebhook } from '../support/webhook.ts';
import { startAlertmanager, startPrometheus } from './prometheus-process.ts';
import { prometheus as programs, readShipped, shippedRules } from './shipped.ts';

const folder = 'examples/notifications';
const stage = await startStage(t);

async function ended(name: string, phase: 'Committed' | 'RolledBack'): Promise<void> {
  const gate = { timeout: '1s', ready: { field: { path: '.data.none' } } };
  const created = change('Create', name, { data: { color: 'red' } });
  await stage.transaction(name, [phase === 'Committed' ? created : { ...created, gate }]);
  t.equal(textAt(await stage.finished(name), 'phase'), phase);
}

t.test('amtool accepts the configuration, and sends each alert to its receiver', async (t) => {
  const { amtool } = await programs();
  const file = join(root, folder, 'alertmanager.yaml');
  t.match(await ran(amtool, ['check-config', file]), { code: 0, output: /SUCCESS/ });
  const receivers = { JanusTransactionEnded: 'ends', JanusRollbackConflict: 'incidents', Other: 'everything-else' };
  for (const [alert, receiver] of Object.entries(receivers)) {
    const words = ['config', 'routes', 'test', `--config.file=${file}`, `--verify.receivers=${receiver}`, `alertname=${alert}`];
    t.match(await ran(amtool, words), { code: 0 }, alert);
  }
});

t.test('each end reaches the webhook by its Event once, however often the script starts', async (t) => {
  const webhook = await openWebhook(t);
  const HOME = t.testdir({});
  const [PATH, SENT] = [await pathWithKubectl(), join(HOME, 'sent')];
  const env = { HOME, PATH, KUBECONFIG: stage.kubeconfig, URL: `${webhook.url}/events`, SENT };
  const words = [join(root, folder, 'events.sh'), '--namespace', stage.namespace];
  const start = () => {
    const child = spawn('sh', words, { env, detached: true, stdio: 'ignore' });
    const stop = async (): Promise<void> => {
      const gone = once(child, 'exit');
      if (child.signalCode === null && process.kill(-(child.pid ?? 0), 'SIGKILL')) await gone;
    };
    t.teardown(stop);
    return stop;
  };
  const arrived = (name: string) =>
    waitFor(() => webhook.received.find(({ body }) => textAt(body, 'transaction') === name)?.body, `the end of ${name}`);
  await ended('before', 'RolledBack');
  const stop = start();
  t.match(await arrived('before'), {
    namespace: stage.namespace,
    end: 'RolledBack',
    message: /^rolled back 1 change: .*\.data\.none/,
    time: /^\d{4}-\d\d-\d\dT[\d:]+Z$/,
  });
  await ended('meanwhile', 'Committed');
  t.match(await arrived('meanwhile'), { end: 'Committed', message: 'the change is applied' });
  await waitFor(() => readFileSync(SENT, 'utf8').split('\n').length === 3, 'both to be noted');
  await stop();
  await ended('while-down', 'RolledBack');
  start();
  await arrived('while-down');
  await ended('after', 'Committed');
  await arrived('after');
  const names = webhook.received.map(({ body }) => textAt(body, 'transaction'));
  t.same(names, ['before', 'meanwhile', 'while-down', 'after']);
});

t.test('a rollback reaches the webhook through Prometheus and Alertmanager', async (t) => {
  const webhook = await openWebhook(t);
  const config = readShipped(`${folder}/alertmanager.yaml`).replaceAll('https://hooks.example.com', webhook.url);
  const alertmanager = await startAlertmanager(t, parse(config));
  const target = { instance: 'a', address: new URL(stage.hookUrl).host };
  const prometheus = await startPrometheus(t, [target], shippedRules(`${folder}/rules.yaml`), alertmanager);
  const rollbacks = 'janus_transaction_phase_transitions_total{to_phase="RolledBack"}';
  await waitFor(async () => Object.keys(await prometheus.values(rollbacks)).length > 0, 'the counter before the rollback');
  await ended('counted', 'RolledBack');
  const labels = { alertname: 'JanusTransactionEnded', to_phase: 'RolledBack' };
  const posted = await waitFor(() => webhook.received[0], 'the notification', { timeoutMs: 60_000 });
  t.match(posted, { path: '/ends', body: { receiver: 'ends', alerts: [{ labels }] } });
});
