// What a failed container printed, at the end of a command that follows, and later if the engine has kept it: through the packed program.
import t from 'tap';
import type { JsonObject } from '../../hooks/objects/json.ts';
import { openCli } from '../support/cli.ts';
import { fits } from '../support/documents.ts';
import { crashLooping, startKubelet } from '../support/kubelet.ts';
import { startNode, toleration } from '../support/node.ts';
import { inAllOnly } from '../support/selection.ts';
import { account, startStage } from '../support/stage.ts';

const stage = await startStage(t);
const cli = await openCli(t, stage.kubeconfig);
const where = ['-n', stage.namespace];
const node = await startNode(
  t,
  stage.client,
  stage.namespace,
  (container) => `${container} starts\nno \u001b[1mdatabase\u001b[0m\n`,
);
startKubelet(t, stage.client, stage.namespace).play('app=web', crashLooping(3));
const spec = {
  // The kubelet of the Node only serves logs: no Pod waits for it to end.
  ...{ schedulerName: 'nobody', nodeName: node, tolerations: [toleration], terminationGracePeriodSeconds: 0 },
  containers: [{ name: 'app', image: 'registry.example/app:1' }],
};
const podNamed = (name: string): JsonObject => ({
  ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name, labels: { app: 'web' } }, spec },
});

t.test('a command that follows shows the last lines of the container that failed, although its Pod is gone', async (t) => {
  await stage.transaction('loop', [{ type: 'Apply', content: podNamed('alone'), gate: { timeout: '12s' } }]);
  const { code, out, err } = await cli.run(['status', 'loop', ...where, '--watch']);
  t.equal(code, 3, out + err);
  t.match(out, /\nLast lines of container app in Pod alone:\n {2}app starts\n {2}no database\n$/);
  t.notMatch(JSON.stringify((await stage.read('loop')).status), 'no database', 'the engine keeps none by itself');
});

t.test(
  'each command shows the log lines that the engine has kept, once, unless it has read the Pod itself',
  inAllOnly,
  async (t) => {
    const file = cli.write('noted.json', JSON.stringify(podNamed('noted')));
    const [label = ''] = Object.entries(stage.label).map((pair) => pair.join('='));
    const release = ['apply', '-f', file, 'web', '--name', 'kept', '--service-account', account, '--label', label, ...where];
    const { code, out } = await cli.run([...release, '--gate=12s', '--keep-logs', '--wait']);
    t.equal(code, 3, out);
    t.match(out, /\nLast lines of container app in Pod noted:\n {2}app starts\n {2}no database\n$/);
    t.equal(out.split('no database').length, 2, 'read by the command itself: not once more');
    const shown = /\nLast lines of the container of Pod noted that failed:\n {2}app starts\n {2}no database\n$/;
    t.match(await cli.run(['status', 'kept', ...where]), { code: 0, out: shown });
    t.match(await cli.run(['status', 'kept', ...where, '--watch']), { code: 3, out: shown }, 'the Pod is gone');
    const history = ['history', 'pod/noted', ...where];
    t.match(await cli.run(history), {
      code: 0,
      out: /\nLast lines of the container that failed in kept:\n {2}app starts\n {2}no database\n$/,
    });
    const document = JSON.parse((await cli.run([...history, '-o', 'json'])).out);
    t.ok(fits('history', document));
    t.match(document.transactions, [{ changes: [{ logs: ['app starts', 'no database'] }] }]);
  },
);
