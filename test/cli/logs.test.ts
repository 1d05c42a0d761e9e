// What a failed container printed, at the end of a command that follows, through the packed program.
import t from 'tap';
import { openCli } from '../support/cli.ts';
import { crashLooping, startKubelet } from '../support/kubelet.ts';
import { startNode, toleration } from '../support/node.ts';
import { startStage } from '../support/stage.ts';

const stage = await startStage(t);
const cli = await openCli(t, stage.kubeconfig);

t.test('a command that follows shows the last lines of the container that failed, although its Pod is gone', async (t) => {
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
  await stage.transaction('loop', [
    {
      ...{ type: 'Create', target: { apiVersion: 'v1', kind: 'Pod', name: 'alone' } },
      ...{ content: { metadata: { labels: { app: 'web' } }, spec }, gate: { timeout: '12s' } },
    },
  ]);
  const { code, out, err } = await cli.run(['status', 'loop', '-n', stage.namespace, '--watch']);
  t.equal(code, 3, out + err);
  t.match(out, /\nLast lines of container app in Pod alone:\n {2}app starts\n {2}no database\n$/);
  t.notMatch(JSON.stringify((await stage.read('loop')).status), 'no database', 'the engine keeps none by itself');
});
