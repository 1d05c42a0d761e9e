// Every way of installing renders, and the API server accepts each object of it strictly.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { parse } from 'yaml';
import { at, isList, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { must } from '../support/client.ts';
import { applyObject, connectToCluster, installManifests } from '../support/install.ts';
import { controllerDefinitions } from '../support/metacontroller/controller-crds.ts';
import { everyNth } from '../support/selection.ts';
import { shareNamespaces } from '../support/shared-namespaces.ts';
import { buildPackaging } from '../tools/packaging/packaging.ts';
import { inShort, objectsOf, openKustomize } from './kustomize.ts';

const root = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const { version } = JSON.parse(read('package.json')) as { readonly version: string };

const client = connectToCluster();
t.teardown(() => client.close());
await installManifests(client);
for (const definition of controllerDefinitions)
  await client.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition);
await shareNamespaces(t, client, ['team-a', 'team-b', 'metacontroller', 'janus-packages']);
const render = await openKustomize(t);
const base = render('manifests').map(inShort);
const wide = ['ClusterRole janus', 'ClusterRoleBinding janus'];
const served = ['team-a', 'team-b'].flatMap((name) => [`Role ${name}/janus`, `RoleBinding ${name}/janus`]);
const kinds = ['provider', 'configuration', 'function'].flatMap((kind) => [`${kind}s`, `${kind}revisions`]);
const ownKinds = [...kinds, 'imageconfigs', 'locks'].map((plural) => `CustomResourceDefinition ${plural}.pkg.crossplane.io`);
const packages = [
  'CustomResourceDefinition transactions.pkg.crossplane.io',
  ...['spec', 'owners'].flatMap((one) =>
    ['', 'Binding'].map((kind) => `ValidatingAdmissionPolicy${kind} ${one}.transactions.pkg.crossplane.io`),
  ),
  'Namespace janus-packages',
  'CompositeController janus-packages',
  'DecoratorController janus-packages-status',
  ...['ServiceAccount', 'Role', 'RoleBinding'].map((kind) => `${kind} janus-packages/janus-packages`),
  ...['janus-packages', 'janus-packages-reader'].flatMap((name) => [`ClusterRole ${name}`, `ClusterRoleBinding ${name}`]),
  ...['install', 'view'].map((name) => `ClusterRole janus-packages-${name}`),
];
const own = 'DecoratorController janus-packages-own';
/** A Replace deletes Deployments that Crossplane has made. */
const runtimes = ['', 'Binding'].map((kind) => `ClusterRole${kind} janus-packages-runtimes`);
const metacontroller = render('test/fixtures/metacontroller/install').map(inShort);

for (const [folder, expected] of everyNth(2, [
  ['manifests', base],
  ['examples/namespaced', [...base.filter((name) => !wide.includes(name)), ...served]],
  ['examples/packages', [...base, ...packages, ...ownKinds]],
  ['examples/crossplane', [...base, ...packages, ...runtimes]],
  ['examples/private-registries', [...base, ...packages, ...ownKinds]],
  ['examples/own-packages', [...base, ...packages, ...ownKinds, own]],
  [
    'examples/own-packages-crossplane',
    [
      ...base,
      ...packages.filter((name) => name !== 'DecoratorController janus-packages-status'),
      ...runtimes,
      own,
      ...['', 'Binding'].map((kind) => `MutatingAdmissionPolicy${kind} paused.packages.janus.io`),
    ],
  ],
  ['examples/install', [...base, ...metacontroller]],
  ['examples/kind', [...base, ...metacontroller]],
  [
    'examples/confined',
    [...base, ...metacontroller, 'Role metacontroller/metacontroller', 'RoleBinding metacontroller/metacontroller'],
  ],
  [
    'examples/sharded',
    [...base, ...metacontroller, 'CompositeController janus-second', 'StatefulSet metacontroller/metacontroller-second'],
  ],
] as const))
  t.test(`kubectl apply -k ${folder}`, async (t) => {
    const objects = render(folder);
    t.same(objects.map(inShort).sort(), [...expected].sort());
    for (const object of objects) {
      const answer = await applyObject(client, object, { dryRun: 'All', fieldValidation: 'Strict' });
      t.equal(answer.code < 300, true, `${inShort(object)}: ${textAt(answer.body, 'message') ?? 'accepted'}`);
    }
  });

const one = (folder: string, name: string): JsonObject => render(folder).find((object) => inShort(object) === name) ?? {};

t.test('package transactions: on, with a folder for the answers of registries', async (t) => {
  const pod = at(one('examples/packages', 'Deployment janus-system/janus'), 'spec', 'template', 'spec');
  t.match(JSON.stringify(pod), '{"name":"JANUS_PACKAGES","value":"true"}');
  t.match(JSON.stringify(at(pod, 'volumes')), 'emptyDir');
  const beside = JSON.stringify(one('examples/crossplane', 'Deployment janus-system/janus'));
  t.match(beside, '{"name":"JANUS_PACKAGES_CROSSPLANE","value":"beside"}');
  const off = at(one('manifests', 'Deployment janus-system/janus'), 'spec', 'template', 'spec');
  t.notMatch(JSON.stringify(off), 'JANUS_PACKAGES');
});

t.test('Packages that make their own package transactions: those with the annotation, or all', async (t) => {
  const annotation = 'pkg.crossplane.io/own-transactions';
  const text = (folder: string, name: string): string => JSON.stringify(one(folder, name));
  const settings = (folder: string) => text(folder, 'Deployment janus-system/janus').match(/"JANUS_PACKAGES_OWN","value":"\w+"/g);
  const folder = 'examples/own-packages';
  t.same(settings(folder), ['"JANUS_PACKAGES_OWN","value":"annotated"']);
  t.same(text(folder, own).split(annotation).length, 4, 'each of the three kinds');
  const others = text(folder, 'DecoratorController janus-packages-status');
  t.same(others.match(/NotIn/g)?.length, 3, 'and none of them is handled twice');
  const all = 'examples/own-packages-crossplane';
  t.same(settings(all), ['"JANUS_PACKAGES_OWN","value":"all"']);
  t.notMatch(text(all, own), 'annotationSelector');
  t.notMatch(text(all, 'MutatingAdmissionPolicy paused.packages.janus.io'), annotation);
  t.match(text(all, 'MutatingAdmissionPolicy paused.packages.janus.io'), 'crossplane.io~1paused');
});

t.test('registries with a private authority, behind a proxy', async (t) => {
  const folder = 'examples/private-registries';
  const container = JSON.stringify(one(folder, 'Deployment janus-system/janus'));
  for (const [name, value] of [
    ['AUTHORITY', '"value":"ConfigMap/registries/ca.crt"'],
    ['TRUSTED_ROOT', '"value":"ConfigMap/sigstore/trusted_root.json"'],
    ['PROXY', '"valueFrom":{"secretKeyRef":{"key":"url","name":"registry-proxy"}}'],
    ['NO_PROXY', '"value":".infra.svc"'],
  ] as const)
    t.ok(container.includes(`{"name":"JANUS_PACKAGES_${name}",${value}}`), name);
  t.match(JSON.stringify(at(one(folder, 'NetworkPolicy janus-system/janus'), 'spec', 'egress')), '"port":3128');
});

t.test('with the tuned flags, and without', async (t) => {
  const flags = (folder: string) =>
    at(one(folder, 'StatefulSet metacontroller/metacontroller'), 'spec', 'template', 'spec', 'containers');
  const tuned = ['--workers=50', '--client-go-qps=1000', '--client-go-burst=2000'];
  t.match(flags('examples/install'), [{ args: [/zap/, /discovery/, ...tuned] }]);
  t.notMatch(JSON.stringify(flags('test/fixtures/metacontroller/install')), '--workers');
});

t.test('the substitution of Flux leaves files with variables of their own as they are', async (t) => {
  const objects = ['manifests', 'manifests/monitoring', 'examples/packages', 'examples/sharded'].flatMap((folder) =>
    render(folder),
  );
  const own = objects.filter((object) => JSON.stringify(object).includes('${'));
  t.same(own.map(inShort), ['ConfigMap janus-system/janus-dashboard']);
  for (const object of own)
    t.equal(textAt(object, 'metadata', 'annotations', 'kustomize.toolkit.fluxcd.io/substitute'), 'disabled');
});

t.test('in listed namespaces: no right in the whole cluster, and a list of ServiceAccounts that is never empty', async (t) => {
  const objects = render('examples/namespaced');
  const bindings = objects.filter(({ kind }) => kind === 'ClusterRoleBinding');
  t.same(bindings, []);
  for (const name of ['team-a', 'team-b']) {
    const rules = at(one('examples/namespaced', `Role ${name}/janus`), 'rules');
    const impersonation = (isList(rules) ? rules : []).filter((rule) => JSON.stringify(rule).includes('impersonate'));
    t.match(impersonation, [{ resources: ['serviceaccounts'], resourceNames: ['deployer'] }]);
  }
  const environment = at(one('examples/namespaced', 'Deployment janus-system/janus'), 'spec', 'template', 'spec', 'containers');
  t.match(JSON.stringify(environment), '{"name":"JANUS_NAMESPACES","value":"team-a,team-b"}');
});

t.test('the rights in a listed namespace are those of the cluster-wide install, but for the names', async (t) => {
  const rulesOf = (name: string, folder: string): string[] => {
    const rules = at(one(folder, name), 'rules');
    return (isList(rules) ? rules : [])
      .map((rule) => JSON.stringify({ ...(rule as JsonObject), resourceNames: undefined }))
      .sort();
  };
  t.same(rulesOf('Role team-a/janus', 'examples/namespaced'), rulesOf('ClusterRole janus', 'manifests'));
});

t.test('the engine may impersonate no ServiceAccount in a namespace without a list of them', async (t) => {
  const [role] = render('manifests/served-namespace').filter(({ kind }) => kind === 'Role');
  t.match(at(role, 'rules'), [{ resourceNames: ['NAME-THEM'], verbs: ['get', 'impersonate'] }]);
});

// What docs/releasing.md says to write: the address of a release is here a repository on this machine, with the tag.
t.test('by ?ref=vX.Y.Z the objects are those of manifests, with the image that `images` names', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'janus-ref-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  const [repository, mine] = [join(directory, 'repository'), join(directory, 'mine')];
  cpSync(join(root, 'manifests'), join(repository, 'manifests'), { recursive: true });
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-C', repository, '-c', 'user.name=t', '-c', 'user.email=t@example.org', ...args]);
  git('init', '--quiet');
  git('add', '.');
  git('commit', '--quiet', '--message=one');
  git('tag', `v${version}`);
  rmSync(join(repository, 'manifests'), { recursive: true });
  const [, text = ''] = /```yaml\n(apiVersion: kustomize[\s\S]*?)```/.exec(read('docs/releasing.md')) ?? [];
  const address = 'https://github.com/janus-io/janus-on-metacontroller';
  t.ok(text.includes(`${address}//manifests?ref=v${version}`), 'of this version');
  mkdirSync(mine);
  writeFileSync(join(mine, 'kustomization.yaml'), text.replace(address, `file://${repository}`));
  const { kustomize } = await buildPackaging((line) => t.comment(line));
  const objects = objectsOf(execFileSync(kustomize, ['build', mine], { encoding: 'utf8' }));
  t.same(objects.map(inShort).sort(), [...base].sort());
  t.match(JSON.stringify(objects.find(({ kind }) => kind === 'Deployment')), 'registry.example.org/janus:');
});

t.test('a Transaction with generateName as a hook of a sync is another one each time', async (t) => {
  const parsed = parse(read('examples/argocd/sync-hook.yaml')) as JsonObject;
  t.equal(textAt(parsed, 'metadata', 'annotations', 'argocd.argoproj.io/hook'), 'Sync');
  const path = '/apis/tx.janus.io/v1alpha1/namespaces/default/transactions';
  const create = async () =>
    textAt(must(await client.create(path, parsed, { dryRun: 'All', fieldValidation: 'Strict' })), 'metadata', 'name');
  const names = [await create(), await create()];
  for (const name of names) t.match(name, /^release-\w+$/);
  t.equal(new Set(names).size, 2);
});
