// Two Metacontrollers that share the Transactions (manifests/sharded), together with packages: each CompositeController is served by one.
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { at, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { buildPackaging } from '../tools/packaging/packaging.ts';
import { copyKustomizations, objectsOf } from './kustomize.ts';

const { kustomize } = await buildPackaging((line) => process.stderr.write(`${line}\n`));

function render(components: readonly string[]): readonly JsonObject[] {
  const directory = copyKustomizations(t);
  mkdirSync(join(directory, 'both'));
  const kustomization = {
    resources: ['../examples/install'],
    components: components.map((name) => `../manifests/${name}`),
  };
  writeFileSync(join(directory, 'both/kustomization.yaml'), JSON.stringify(kustomization));
  const { status, stdout, stderr } = spawnSync(kustomize, ['build', 'both'], { cwd: directory, encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  return objectsOf(stdout);
}

for (const components of [['sharded'], ['packages', 'packages/kinds', 'sharded']])
  t.test(`${components.join(', ')}: each CompositeController has the label that one Metacontroller selects`, async (t) => {
    const objects = render(components);
    const selected = objects
      .filter(({ kind }) => kind === 'StatefulSet')
      .flatMap((one) =>
        JSON.stringify(at(one, 'spec', 'template')).match(/(?<=--target-label-selector=tx\.janus\.io\/shard=)\w+/g),
      );
    t.same(selected, ['first', 'second']);
    const controllers = objects.filter(({ kind }) => kind === 'CompositeController');
    for (const one of objects.filter(({ kind }) => kind === 'DecoratorController'))
      t.equal(textAt(one, 'metadata', 'labels', 'tx.janus.io/shard'), 'first');
    t.same(
      controllers.map((one) => [textAt(one, 'metadata', 'name'), textAt(one, 'metadata', 'labels', 'tx.janus.io/shard')]),
      [['janus', 'first'], ...(components.includes('packages') ? [['janus-packages', 'first']] : []), ['janus-second', 'second']],
    );
    const [, first] = controllers.map((one) => at(one, 'spec', 'parentResource', 'labelSelector'));
    if (components.includes('packages')) t.equal(first, undefined, 'all package transactions are served by the first');
  });
