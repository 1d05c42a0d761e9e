// Tests write where they are pointed at. So KUBECONFIG alone never points them anywhere, and whoever asks for an existing
// cluster sees which one it is.
import t from 'tap';
import { testKubeconfig } from '../support/client.ts';
import { asksForExistingCluster, openCluster } from './existing.ts';

for (const [args, env, asks] of [
  [[], { KUBECONFIG: '/production' }, false],
  [['test/hooks'], { KUBECONFIG: '/production', JANUS_USE_EXISTING_CLUSTER: '' }, false],
  [['--use-existing-cluster'], {}, true],
  [[], { JANUS_USE_EXISTING_CLUSTER: '1' }, true],
] as const) {
  t.test(`${asks ? 'existing' : 'own'} cluster: [${args}] ${JSON.stringify(env)}`, async (t) => {
    t.equal(asksForExistingCluster(args, env), asks);
  });
}

for (const KUBECONFIG of [undefined, '', '/nonexistent', '/one:/two']) {
  t.test(`asked for without a usable KUBECONFIG (${KUBECONFIG}), nothing is started in its place`, async (t) => {
    const env = KUBECONFIG === undefined ? {} : { KUBECONFIG };
    await t.rejects(openCluster(['--use-existing-cluster'], {}, env), /KUBECONFIG must name one file that exists/);
  });
}

t.test('an existing cluster is named, and never stopped', async (t) => {
  const reported: string[] = [];
  const options = { report: (line: string) => void reported.push(line) };
  const cluster = await openCluster(['--use-existing-cluster'], options, { KUBECONFIG: testKubeconfig() });
  t.match(reported, [/USING THE EXISTING CLUSTER https:\S+ \(context "\S+" of \/.*\), as asked for/]);
  await cluster.stop();
  await t.rejects(cluster.restart('kube-apiserver'), /not ours/);
});
