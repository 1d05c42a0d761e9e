// Measures kubectl with the objects of a package transaction, on a control plane without these objects. kubectl checks nothing, and undoes
// nothing. The rest of the time of a package transaction is its own share.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { at, isObject, type JsonObject } from '../../hooks/objects/json.ts';
import { type } from '../../test/support/kubectl.ts';
import { definitionPath, kinds, packagePath } from '../../test/support/package-paths.ts';
import type { PackageWorld } from '../../test/support/package-world.ts';

const definitions = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' };

/** The CRDs of these groups, and all packages and revisions, in a form that kubectl can apply again. */
export async function madeIn({ client }: PackageWorld, isOwn: (group: string) => boolean): Promise<readonly JsonObject[]> {
  const crds = await client.list(definitionPath());
  const own = crds.items.filter((one) => isOwn(String(at(one, 'spec', 'group'))));
  const lists = await Promise.all(kinds.map((plural) => client.list(packagePath(plural))));
  const packages = lists.flatMap(({ items }) => items).filter((one) => !/^warm/.test(String(at(one, 'metadata', 'name'))));
  return [...own.map((one) => ({ ...definitions, ...one })), ...packages].map(applicable);
}

function applicable({ status: _, ...object }: JsonObject): JsonObject {
  const metadata = isObject(object.metadata) ? object.metadata : {};
  const { name, labels = {}, annotations = {} } = metadata;
  return { ...object, metadata: { name: name ?? '', labels, annotations } };
}

/** ms until kubectl has applied the objects, and the API server has established the CRDs. */
export async function byKubectl({ plane }: PackageWorld, objects: readonly object[]): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'janus-bench-kubectl-'));
  try {
    writeFileSync(join(folder, 'objects.json'), JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }));
    const begin = performance.now();
    const { code, output } = await type(lines, folder, { KUBECONFIG: plane.kubeconfig });
    if (code !== 0) throw new Error(`kubectl failed: ${output}`);
    return Math.round(performance.now() - begin);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const lines = `kubectl apply --server-side -f objects.json
kubectl wait --for=condition=Established crd --all --timeout=30m`;
