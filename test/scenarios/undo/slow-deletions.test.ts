// Objects that take a while to go are waited for side by side: a call that has deleted one goes on with the next one.
import t from 'tap';
import { startStage } from '../../support/stage.ts';

const amount = 12;

t.test('CustomResourceDefinitions are deleted in a few calls, not one in each', async (t) => {
  const stage = await startStage(t);
  const group = `${stage.namespace}.example.com`;
  const version = {
    ...{ name: 'v1', served: true, storage: true },
    schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
  };
  const names = Array.from({ length: amount }, (_, index) => `things${index}`);
  const changes = names.map((plural, index) => ({
    type: 'Apply',
    content: {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `${plural}.${group}` },
      spec: { group, scope: 'Namespaced', names: { plural, kind: `Thing${index}` }, versions: [version] },
    },
  }));
  await stage.transaction('crds', changes);
  await stage.finished('crds');
  await stage.annotate('crds', { 'tx.janus.io/request-rollback': '1' });
  await stage.phase('crds', 'RolledBack');
  await stage.finished('crds');
  const calls = stage.reports.filter(({ step }) => step === 'compensate').length;
  t.ok(calls <= amount / 2, `${calls} calls`);
  for (const plural of names) {
    const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${plural}.${group}`;
    t.equal((await stage.client.get(path)).code, 404);
  }
});
