// A control plane with a real Crossplane and package transactions beside it. A stand-in for kubelets makes the Pods of packages ready.
import { at, isList, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { must, type Teardown, waitFor } from './client.ts';
import {
  type Crossplane,
  createDeployment,
  crossplaneDefinitions,
  crossplaneNamespace,
  crossplaneVersion,
  startCrossplane,
} from './crossplane.ts';
import { applyObject, readManifest } from './install.ts';
import { running, startKubelet } from './kubelet.ts';
import { kinds, lockPath, packagePath } from './package-paths.ts';
import { conditionIn, type PackageWorld, startPackageWorld, statusOf, type WorldOptions } from './package-world.ts';

export interface CrossplaneWorld {
  readonly world: PackageWorld;
  readonly crossplane: Crossplane;
  /** `REVISION SOURCE VERSION` of all entries of the Lock, sorted. */
  lockEntries(): Promise<readonly string[]>;
  /** All Packages. */
  packageNames(): Promise<readonly string[]>;
  /** The revision of a Provider once it and its runtime are healthy. */
  healthy(name: string): Promise<JsonObject>;
}

/** Two hooks serve the calls in turn. */
export async function startCrossplaneWorld(t: Teardown, more: WorldOptions = {}): Promise<CrossplaneWorld> {
  const started: { crossplane?: Crossplane } = {};
  const world = await startPackageWorld(t, {
    definitions: crossplaneDefinitions(),
    environment: { JANUS_PACKAGES_CROSSPLANE: 'beside' },
    isBalanced: true,
    ...more,
    before: async (client, kubeconfig) => {
      await createDeployment(client, crossplaneVersion());
      for (const object of await readManifest('packages/beside/rbac.yaml')) must(await applyObject(client, object));
      started.crossplane = await startCrossplane(t, client, kubeconfig);
    },
  });
  if (started.crossplane === undefined) throw new Error('Crossplane has not started');
  const { client } = world;
  startKubelet(t, client, crossplaneNamespace).play('pkg.crossplane.io/revision', running);
  return {
    world,
    crossplane: started.crossplane,
    async lockEntries() {
      const packages = at(must(await client.get(lockPath)), 'packages');
      const entries = (isList(packages) ? packages : []).map(
        (one) => `${textAt(one, 'name')} ${textAt(one, 'source')} ${textAt(one, 'version')}`,
      );
      return entries.sort();
    },
    async packageNames() {
      const plurals = kinds.filter((plural) => !plural.endsWith('revisions'));
      const lists = await Promise.all(plurals.map(async (plural) => (await client.list(packagePath(plural))).items));
      const names = lists.flat().map((one) => textAt(one, 'metadata', 'name') ?? '');
      return names.sort();
    },
    healthy: (name) =>
      waitFor(
        async () => {
          const found = must(await client.get(packagePath('providerrevisions', name)));
          const aspects = ['RevisionHealthy', 'RuntimeHealthy'].map((type) => conditionIn(statusOf(found), type)?.status);
          if (aspects.every((status) => status === 'True')) return found;
          throw new Error(JSON.stringify(found));
        },
        `${name} to be healthy`,
        { timeoutMs: 120_000 },
      ),
  };
}

/** The name of a Provider's revision. */
export function revisionOf(name: string, digest: string): string {
  return `${name}-${digest.slice('sha256:'.length, 'sha256:'.length + 12)}`;
}

export function schemaOf(...names: readonly string[]): object {
  return { type: 'object', properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])) };
}
