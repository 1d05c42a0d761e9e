// A tree is read ahead of its resolution: tags of what a package requires are listed while other packages are still read.
import t from 'tap';
import type { JsonObject } from '../../hooks/model/json.ts';
import { readTree } from '../../hooks/packages/observe/tree.ts';
import type { Registry } from '../../hooks/packages/registry.ts';
import { digestOf, sourceOf } from './trees.ts';

const requires: Readonly<Record<string, readonly string[]>> = { a: ['b', 'c'], b: ['d'], c: ['d'], d: [] };

function metaOf(name: string): JsonObject {
  const dependsOn = requires[name]?.map((one) => ({
    apiVersion: 'pkg.crossplane.io/v1',
    kind: 'Provider',
    package: sourceOf(one),
    version: '>=v1.0.0',
  }));
  return { apiVersion: 'meta.pkg.crossplane.io/v1', kind: 'Provider', metadata: { name }, spec: { dependsOn: dependsOn ?? [] } };
}

t.test('c is read only once the tags of d are requested, which b requires', { timeout: 60_000 }, async (t) => {
  const listed: string[] = [];
  let isListed = (): void => undefined;
  const tagsOfD = new Promise<void>((resolve) => (isListed = resolve));
  const nameOf = (source: string): string => source.slice(source.lastIndexOf('/') + 1);
  const registry: Registry = {
    tags: async (source) => {
      listed.push(nameOf(source));
      if (nameOf(source) === 'd') isListed();
      return { kind: 'ok', tags: ['v1.0.0'] };
    },
    digest: async ({ source, version }) => ({ kind: 'ok', digest: digestOf(nameOf(source), version) }),
    read: async (source, _digest, take) => {
      if (nameOf(source) === 'c') await tagsOfD;
      take(metaOf(nameOf(source)));
      return { kind: 'ok' };
    },
  };
  const reference = { source: sourceOf('a'), version: 'v1.0.0' };
  const tree = await readTree({ name: 'a', kind: 'Provider', reference, skipsDependencies: false, installed: [] }, registry);
  t.equal(tree.kind, 'resolved', JSON.stringify(tree));
  t.strictSame(listed.toSorted(), ['b', 'c', 'd'], 'each list is requested once');
});
