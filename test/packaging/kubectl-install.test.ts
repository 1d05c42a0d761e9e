// examples/install, applied by kubectl to an empty cluster as its first lines say, and removed again.
import t from 'tap';
import { textAt } from '../../hooks/objects/json.ts';
import { startControlPlane } from '../controlplane/start.ts';
import { connect, must } from '../support/client.ts';
import { type } from '../support/kubectl.ts';
import { copyKustomizations } from './kustomize.ts';

const plane = await startControlPlane({ report: () => undefined });
t.teardown(() => plane.stop());
const client = connect(plane.kubeconfig);
t.teardown(() => client.close());
const folder = copyKustomizations(t);
const typed = (commands: string) => type(commands, folder, { KUBECONFIG: plane.kubeconfig });

const controller = '/apis/metacontroller.k8s.io/v1alpha1/compositecontrollers/janus';
const crd = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/transactions.tx.janus.io';

t.test('the first time the CRD of CompositeControllers is missing, the second time nothing is', async (t) => {
  const first = await typed('kubectl apply -k examples/install');
  t.equal(first.code, 1, first.output);
  t.match(first.output, 'no matches for kind "CompositeController"');
  const token =
    'kubectl -n janus-system create secret generic janus-hook-token --from-literal=current=0123456789abcdef0123456789abcdef';
  const second = await typed(`${token}\nkubectl apply -k examples/install`);
  t.equal(second.code, 0, second.output);
  t.equal(textAt(must(await client.get(controller)), 'metadata', 'name'), 'janus');
  for (const path of ['metacontroller/statefulsets/metacontroller', 'janus-system/deployments/janus'])
    t.equal((await client.get(`/apis/apps/v1/namespaces/${path}`)).code, 200, path);
});

t.test('the cluster has exactly the objects of the manifests', async (t) => {
  const { code, output } = await typed('kubectl diff -k examples/install');
  t.equal(code, 0, output);
});

t.test('removed, nothing of it is left', async (t) => {
  const { code, output } = await typed('kubectl delete --ignore-not-found -k examples/install');
  t.equal(code, 0, output);
  for (const path of [controller, crd, '/api/v1/namespaces/janus-system']) t.equal((await client.get(path)).code, 404, path);
});
