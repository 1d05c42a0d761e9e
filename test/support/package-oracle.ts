// Checks the cluster when no package transaction runs. Returns each violation as a sentence.
import { at, isList, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { must } from './client.ts';
import { definitionPath, lockPath, packagePath, stagesPath } from './package-paths.ts';
import type { PackageWorld } from './package-world.ts';

export interface Oracle {
  readonly lock: () => Promise<JsonObject>;
  /** Sources in the Lock. */
  readonly sources: () => Promise<readonly string[]>;
  readonly nextNumber: () => Promise<number>;
  /** The provider `name` of CRDs in the group `NAME.org`, made by the package transaction `by`. */
  installed(name: string, plurals: readonly string[], by?: string): Promise<readonly string[]>;
  notInstalled(name: string, plurals: readonly string[]): Promise<readonly string[]>;
  /** Nothing that the package transaction made has its label. */
  nothingMadeBy(name: string): Promise<readonly string[]>;
  /** The Lock is free, and nothing of any stage is left. */
  atRest(): Promise<readonly string[]>;
}

const pathOf = {
  configmaps: '/api/v1/namespaces/janus-packages/configmaps',
  leases: '/apis/coordination.k8s.io/v1/namespaces/janus-system/leases',
} as const;

export function createOracle({ client, source }: Pick<PackageWorld, 'client' | 'source'>): Oracle {
  const lock = async (): Promise<JsonObject> => {
    const answer = await client.get(lockPath);
    return answer.code === 404 ? {} : must(answer);
  };
  const annotation = async (name: string): Promise<string | undefined> =>
    textAt(await lock(), 'metadata', 'annotations', `pkg.crossplane.io/${name}`);
  const sources = async (): Promise<readonly string[]> => {
    const packages = at(await lock(), 'packages');
    return (isList(packages) ? packages : []).map((one) => textAt(one, 'source') ?? '');
  };
  const namesAt = async (path: string, labelSelector?: string): Promise<readonly string[]> =>
    (await client.list(path, labelSelector === undefined ? {} : { labelSelector })).items.map(
      (item) => `${textAt(item, 'kind') ?? ''} ${textAt(item, 'metadata', 'name')}`,
    );

  async function made(by: string): Promise<readonly string[]> {
    const paths = [definitionPath(), packagePath('providers'), packagePath('providerrevisions'), stagesPath, pathOf.configmaps];
    return (await Promise.all(paths.map((path) => namesAt(path, `pkg.crossplane.io/transaction=${by}`)))).flat();
  }

  async function atRest(): Promise<readonly string[]> {
    const holder = await annotation('current-transaction');
    const stages = await namesAt(stagesPath);
    const contents = await namesAt(pathOf.configmaps);
    const leases = await namesAt(pathOf.leases, 'tx.janus.io/transaction-uid');
    return [
      ...(holder === undefined ? [] : [`the Lock is held by ${holder}`]),
      ...stages.map((one) => `stage${one} is left`),
      ...contents.filter((one) => !one.endsWith('kube-root-ca.crt')).map((one) => `ConfigMap${one} is left`),
      ...leases.map((one) => `Lease${one} is left`),
    ];
  }

  return {
    lock,
    sources,
    atRest,
    nextNumber: async () => Number((await annotation('next-transaction-number')) ?? '1'),
    nothingMadeBy: async (name) => (await made(name)).map((one) => `${one} has the label of ${name}`),
    async installed(name, plurals, by = name) {
      const found = await made(by);
      const expected = plurals.length + 2;
      const revisions = (
        await client.list(packagePath('providerrevisions'), { labelSelector: `pkg.crossplane.io/package=${name}` })
      ).items;
      const active = revisions.filter((one) => textAt(one, 'spec', 'desiredState') === 'Active');
      const crds = await Promise.all(
        plurals.map(async (plural) => must(await client.get(definitionPath(`${plural}.${name}.org`)))),
      );
      return [
        ...((await sources()).includes(source(name)) ? [] : [`${name} is not in the Lock`]),
        ...(found.length === expected ? [] : [`expected ${expected} objects of ${by}, found ${found.join(', ')}`]),
        ...(active.length === 1 ? [] : [`expected one Active revision of ${name}, found ${active.length}`]),
        ...crds
          .filter((crd) => controllerOf(crd) !== textAt(active[0], 'metadata', 'uid'))
          .map((crd) => `CRD ${textAt(crd, 'metadata', 'name')} is not controlled by the Active revision`),
        ...(await atRest()),
      ];
    },
    async notInstalled(name, plurals) {
      const codes = await Promise.all(
        plurals.map(async (plural) => (await client.get(definitionPath(`${plural}.${name}.org`))).code),
      );
      return [
        ...((await sources()).includes(source(name)) ? [`${name} is in the Lock`] : []),
        ...(await made(name)).map((one) => `${one} is left`),
        ...codes.flatMap((code, index) => (code === 404 ? [] : [`CRD ${plurals[index]} of ${name} is left`])),
        ...(await atRest()),
      ];
    },
  };
}

function controllerOf(object: JsonObject): string | undefined {
  const owners = at(object, 'metadata', 'ownerReferences');
  return textAt(
    (isList(owners) ? owners : []).find((owner) => at(owner, 'controller') === true),
    'uid',
  );
}
