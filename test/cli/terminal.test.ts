// The packed program at a real pseudo-terminal, on the real API server: a release that does not come up, and the keys.
import { dirname } from 'node:path';
import t from 'tap';
import type { JsonObject } from '../../hooks/objects/json.ts';
import { openCli } from '../support/cli.ts';
import { waitFor } from '../support/client.ts';
import { documentedScreen } from '../support/documented-screen.ts';
import { startKubelet, waiting } from '../support/kubelet.ts';
import { needsScript, openPty } from '../support/pty.ts';
import { inAllOnly } from '../support/selection.ts';
import { account, startStage } from '../support/stage.ts';

const stage = await startStage(t);
const cli = await openCli(t, stage.kubeconfig);
const [[key = '', value = '']] = Object.entries(stage.label) as [[string, string]];
const labels = { app: 'webx' };
const size = { columns: 120, rows: 22 };

startKubelet(t, stage.client, stage.namespace).play(
  'app=webx',
  waiting('ImagePullBackOff', 'Back-off pulling image "x:bad": manifest unknown'),
);

const webx: JsonObject = {
  ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'webx' } },
  spec: {
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'x:bad' }] } },
  },
};
const services = Array.from({ length: 25 }, (_, index) => ({
  ...{ apiVersion: 'v1', kind: 'Service', metadata: { name: `svc-${index}` } },
  spec: { selector: labels, ports: [{ port: 80 }] },
}));

/** `janus apply --wait` of these objects, at the terminal. */
function apply(name: string, objects: readonly JsonObject[], gate: string) {
  const file = cli.write(`${name}.json`, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }));
  const words = ['apply', '-f', file, '-n', stage.namespace, '--service-account', account, '--label', `${key}=${value}`];
  const env = {
    ...{ KUBECONFIG: stage.kubeconfig, HOME: cli.home, LANG: 'C.UTF-8', NO_COLOR: '1' },
    PATH: `${cli.programs}:${dirname(process.execPath)}:/usr/bin:/bin`,
  };
  return openPty(t, { ...size, env, folder: cli.home, words: ['janus', ...words, '--name', name, '--gate', gate, '--wait'] });
}

/** Without what differs from run to run; what was wrapped is one line again. */
const steady = (lines: readonly string[]): readonly string[] =>
  lines
    .join('\n')
    .replaceAll(/\n {2}(?! )/g, ' ')
    .replaceAll(stage.namespace, 'month')
    .replaceAll(/\d:\d\d\b|\b\d+s\b|\d{4}-\S+Z/g, '0')
    .replaceAll(/Pod webx-[-0-9a-z]+/g, 'Pod webx')
    .split('\n');

t.test(
  'a release that does not become ready: objects that are not ready first, the cause in full, each line once',
  needsScript,
  async (t) => {
    const pty = apply('svc-1', [...services, webx], '5s');
    const isThere = (text: RegExp) =>
      waitFor(() => text.test(pty.screen().join('\n')), `the screen to show ${text}: ${pty.screen().join('\n')}`);
    await isThere(
      /ready 25\/26 [\s\S]* ⧗ Deployment webx +created +not ready: 0 of 1 replicas are available\n ✓ 25 Services +created +ready$/m,
    );
    t.match(pty.screen()[1], /^svc-1 · \S+ · committing 26\/26 applied · ready 25\/26 · 0:\d\d of 0:\d\d$/);
    t.equal(pty.screen().at(-1), '[q] leave, it goes on   [a] abort and undo');
    const open = pty.lines().slice(1);
    t.equal(await pty.finished, 3);
    const [created, head, ...lines] = pty.lines();
    t.equal(created, 'transaction.tx.janus.io/svc-1 created');
    t.match(head, /^svc-1 · \S+ · rolled back 26\/26 undone · 0:\d\d$/);
    t.match(lines[0], / ✗ Deployment webx +deleted again +failed: GateTimeout: ImagePullBackOff: Back-off pulling image "x:bad"/);
    t.equal(lines[1], ' ↺ 25 Services       deleted again   as before');
    const end = lines
      .slice(2)
      .map((line) => line.slice(2))
      .join(' ');
    t.match(end, /^svc-1 was rolled back after 0:\d\d: Deployment \S+\/webx did not become ready within 5s: /);
    t.match(end, /Pod webx-\S+: container c is waiting \(ImagePullBackOff\): Back-off pulling image "x:bad": manifest unknown/);
    t.match(
      end,
      / 26 objects are as before \(26 deleted again\)\. Nothing to clean up\. Correct the cause, then run janus apply again\.$/,
    );
    t.same(steady([...open, '…', ...pty.lines().slice(1)]), steady(documentedScreen()), 'as docs/cli.md shows it');
  },
);

t.test('q leaves, and the Transaction goes on; a aborts it after a question', needsScript, async (t) => {
  const pty = apply('keys', [webx], '5m');
  const shows = (text: string) => waitFor(() => pty.screen().join('\n').includes(text), `the screen to show ${text}`);
  await shows('[a] abort and undo');
  await shows('not ready: ImagePullBackOff: Back-off pulling image');
  pty.type('a');
  await shows('Stop keys (1/1 done), and undo the applied changes? [y/N]');
  pty.type('n');
  await shows('[a] abort and undo');
  pty.type('q');
  t.equal(await pty.finished, 130);
  t.match(
    pty.lines().join('\n'),
    /· keys is committing after \d:\d\d \(1\/1 applied\); it continues\.\n[\s\S]*janus status keys -n \S+ --watch follows it\./,
  );
  t.match(await stage.read('keys'), { status: { phase: 'Committing' } });

  const again = apply('keys', [webx], '5m');
  const showsAgain = (text: string) => waitFor(() => again.screen().join('\n').includes(text), `the screen to show ${text}`);
  await showsAgain('[a] abort and undo');
  again.type('a');
  await showsAgain('[y/N]');
  again.type('y');
  t.equal(await again.finished, 3);
  t.match(again.lines().join('\n'), /\n✓ keys was rolled back after \d:\d\d\.\n {2}1 object is as before \(1 deleted again\)\./);
});

t.test('Ctrl-C at the terminal ends the command alone', needsScript.skip === false ? inAllOnly : needsScript, async (t) => {
  const pty = apply('stopped', [{ ...webx, metadata: { name: 'stopped' } }], '5m');
  await waitFor(() => pty.screen().join('\n').includes('committing 1/1'), 'the gate to be open');
  pty.type('\u0003');
  t.equal(await pty.finished, 130);
  t.match(await stage.read('stopped'), { status: { phase: 'Committing' } });
});
