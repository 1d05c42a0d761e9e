// Writers that will act against a change: each sign, and similar metadata that is no sign.
import t from 'tap';
import type { JsonObject } from '../../../../hooks/objects/json.ts';
import { ownersOf } from '../../../../hooks/transactions/inspect/owners.ts';
import { type Autoscaler, scalersOf } from '../../../../hooks/transactions/observe/autoscalers.ts';

const metadata = (more: JsonObject): JsonObject => ({ metadata: { name: 'web', namespace: 'shop', ...more } });
const seen = (object: JsonObject, autoscalers: readonly string[] = []) =>
  ownersOf(object, autoscalers).map(({ code, name }) => `${code} ${name}`);

t.test('signs of owners', async (t) => {
  const argo = { annotations: { 'argocd.argoproj.io/tracking-id': 'shop:apps/Deployment:shop/web' } };
  t.same(seen(metadata(argo)), ['ArgoCD Application shop']);
  t.same(seen(metadata({ managedFields: [{ manager: 'argocd-controller', operation: 'Apply' }] })), ['ArgoCD argocd-controller']);
  const kustomization = { 'kustomize.toolkit.fluxcd.io/name': 'web', 'kustomize.toolkit.fluxcd.io/namespace': 'flux-system' };
  t.same(seen(metadata({ labels: kustomization })), ['Flux Kustomization flux-system/web']);
  t.same(seen(metadata({ labels: { 'helm.toolkit.fluxcd.io/name': 'web' } })), ['Flux HelmRelease web']);
  const helm = {
    labels: { 'app.kubernetes.io/managed-by': 'Helm' },
    annotations: { 'meta.helm.sh/release-name': 'web', 'meta.helm.sh/release-namespace': 'shop' },
  };
  t.same(seen(metadata(helm)), ['Helm shop/web']);
  t.same(seen(metadata({}), ['shop/scaler']), ['HPA shop/scaler']);
  t.same(
    seen(
      metadata({
        ownerReferences: [
          { kind: 'Other', name: 'x' },
          { kind: 'ReplicaSet', name: 'web-1', controller: true },
        ],
      }),
    ),
    ['Controller ReplicaSet web-1'],
  );
});

t.test('managers that show no owner', async (t) => {
  const disabled = { 'kustomize.toolkit.fluxcd.io/reconcile': 'disabled' };
  t.same(seen(metadata({ labels: { 'kustomize.toolkit.fluxcd.io/name': 'web' }, annotations: disabled })), []);
  t.same(seen(metadata({ labels: { 'app.kubernetes.io/instance': 'web' } })), []);
  t.same(seen(metadata({ labels: { 'app.kubernetes.io/managed-by': 'Helm' } })), []);
  t.same(seen(metadata({ ownerReferences: [{ kind: 'Other', name: 'x' }] })), []);
});

t.test('autoscalers of a target', async (t) => {
  const target = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'shop', name: 'web' };
  const scaler = (name: string, namespace: string, scaled: JsonObject): Autoscaler => ({
    ...{ kind: 'HorizontalPodAutoscaler', namespace, name, isKeda: false },
    target: { apiVersion: 'apps/v1beta1', kind: 'Deployment', name: 'web', ...scaled },
  });
  const all = [
    scaler('its', 'shop', {}),
    scaler('elsewhere', 'other', {}),
    scaler('kind', 'shop', { kind: 'StatefulSet' }),
    scaler('name', 'shop', { name: 'api' }),
    scaler('group', 'shop', { apiVersion: 'x/v1' }),
  ];
  t.same(
    scalersOf(target, all).map(({ name }) => name),
    ['its'],
  );
});

t.test('names that strangers chose are clean and bounded', async (t) => {
  const [owner] = ownersOf(metadata({ labels: { 'helm.toolkit.fluxcd.io/name': `\u001b[2J${'x'.repeat(1_000)}` } }), []);
  t.notMatch(owner?.sentence, new RegExp(String.fromCharCode(27)));
  t.ok((owner?.name.length ?? 1_000) <= 253);
});
