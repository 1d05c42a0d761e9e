// Carries out the actions of a generated history (histories.ts) on the real API server.
import { randomUUID } from 'node:crypto';
import { optedIn, packageUidLabel } from '../../hooks/crossplane/model/own.ts';
import { at, type JsonObject, objectsAt, textAt } from '../../hooks/objects/json.ts';
import { must, waitFor } from '../support/client.ts';
import { definitionPath, lockPath, packagePath, ptxPath } from '../support/package-paths.ts';
import type { PackageWorld } from '../support/package-world.ts';
import { definitionOf } from '../support/registry/builder.ts';
import { passOn } from '../support/registry/proxy.ts';
import type { Action, History, Name, Step } from './histories.ts';

/** The writes of the hooks that took effect or were refused, as the API server asked about them. */
export interface Noted {
  /** `UPDATE customresourcedefinitions NAME` of each. */
  readonly writes: string[];
  /** How often the Lock was taken. */
  tries: number;
  /** How often its packages were written. */
  successes: number;
}

export interface Running {
  readonly world: PackageWorld;
  /** The number of calls about Packages. */
  readonly calls: () => number;
  readonly noted: Noted;
  /** Names of this history begin with it. */
  readonly id: string;
  readonly releases: History['releases'];
  /** uids of instances by their paths. */
  readonly instances: Map<string, string>;
  /** uids of CRDs that a user has labelled, by their paths. */
  readonly labelled: Map<string, string>;
  /** Packages whose revision a user has made Inactive. */
  readonly inactive: Set<Name>;
  /** Package transactions that a user has deleted. */
  deleted: number;
}

const repositoryOf = ({ id }: Running, name: Name): string => `${id}-${name}`;
export const sourceOf = (run: Running, name: Name): string => run.world.source(repositoryOf(run, name));
/** The hook gives a dependency this name. */
const packageNameOf = (run: Running, name: Name): string => `acme-${repositoryOf(run, name)}`;
export const providerPath = (run: Running, name: Name): string => packagePath('providers', packageNameOf(run, name));
const groupOf = (run: Running, name: Name): string => `${repositoryOf(run, name)}.org`;
export const pluralsOf = (version: string): readonly string[] => (version === 'v1.1.0' ? ['ones'] : ['ones', 'twos']);
export const crdName = (run: Running, name: Name, plural: string): string => `${plural}.${groupOf(run, name)}`;
const crdPath = (run: Running, name: Name, plural: string): string => definitionPath(crdName(run, name, plural));
const instancesPath = (run: Running, name: Name): string => `/apis/${groupOf(run, name)}/v1beta1/ones`;

export async function publish(run: Running, name: Name, tag: string): Promise<void> {
  const found = run.releases.find((one) => one.name === name && one.version === tag);
  const schema = { type: 'object', description: `${tag} ${randomUUID()}` };
  const objects = pluralsOf(tag).map((plural) => definitionOf(plural, groupOf(run, name), schema));
  const requires = Object.fromEntries(
    Object.entries(found?.requires ?? {}).map(([one, constraint]) => [repositoryOf(run, one as Name), constraint]),
  );
  await run.world.publish({ name: repositoryOf(run, name), tag, requires, objects });
}

/** The entry of the package in the Lock. */
export async function entryOf(run: Running, name: Name): Promise<JsonObject | undefined> {
  const entries = objectsAt((await run.world.client.get(lockPath)).body, 'packages');
  return entries.find((one) => one.source === sourceOf(run, name));
}

export async function revisionsOf(run: Running, name: Name): Promise<readonly JsonObject[]> {
  const labelSelector = `pkg.crossplane.io/package=${packageNameOf(run, name)}`;
  return (await run.world.client.list(packagePath('providerrevisions'), { labelSelector })).items;
}

/** The package transactions that this Package has made. */
export async function transactionsOf(run: Running, pkg: JsonObject): Promise<readonly JsonObject[]> {
  const labelSelector = `${packageUidLabel}=${textAt(pkg, 'metadata', 'uid')}`;
  return (await run.world.client.list(ptxPath(), { labelSelector })).items;
}

export const isTerminating = (object: JsonObject): boolean => textAt(object, 'metadata', 'deletionTimestamp') !== undefined;

/** `isQuiet`: whether nothing is under way. */
export async function carryOut(run: Running, burst: readonly Step[], isQuiet: () => Promise<boolean>): Promise<void> {
  for (const { action, after } of burst) {
    const before = run.calls();
    const isTime = async (): Promise<boolean> => run.calls() >= before + after || (await isQuiet());
    await waitFor(isTime, 'the time of the next action', { timeoutMs: 300_000 });
    if (action.kind === 'edit' && action.what === 'state')
      await waitFor(isQuiet, 'nothing to be under way', { timeoutMs: 300_000 });
    await actions[action.kind](run, action as never);
  }
}

type Of<Kind extends Action['kind']> = Extract<Action, { readonly kind: Kind }>;

const actions: { readonly [Kind in Action['kind']]: (run: Running, action: Of<Kind>) => Promise<unknown> } = {
  async apply(run, { name, version }) {
    const metadata = { name: packageNameOf(run, name), annotations: optedIn };
    const spec = { package: `${sourceOf(run, name)}:${version}` };
    const object = { apiVersion: 'pkg.crossplane.io/v1', kind: 'Provider', metadata, spec };
    must(await run.world.client.apply(providerPath(run, name), object));
  },
  delete: (run, { name }) => run.world.client.delete(providerPath(run, name), { propagationPolicy: 'Background' }),
  instance: toggle,
  moveTag: (run, { name, version }) => publish(run, name, version),
  edit: (run, { name, what }) => edits[what](run, name),
  async away({ world }, { requests }) {
    let dropped = 0;
    world.proxy.act((_, answer) => {
      dropped += 1;
      if (dropped >= requests) world.proxy.act(passOn);
      answer.destroy();
      return true;
    });
  },
  kill: ({ world }) => world.replaceHooks(),
};

/** Of a package that is installed and stays: an undo of its install, or its Delete, would not know the instance. */
async function toggle(run: Running, { name }: Of<'instance'>): Promise<void> {
  const { client } = run.world;
  const path = `${instancesPath(run, name)}/mine`;
  if (run.instances.delete(path)) {
    must(await client.delete(path));
    return;
  }
  const provider = await client.get(providerPath(run, name));
  const isStaying = provider.code === 200 && !isTerminating(provider.body) && (await entryOf(run, name)) !== undefined;
  if (!isStaying) return;
  const object = { apiVersion: `${groupOf(run, name)}/v1beta1`, kind: 'One', metadata: { name: 'mine' } };
  const made = await waitFor(
    async () => must(await client.create(instancesPath(run, name), object)),
    'an instance to be created',
  );
  run.instances.set(path, textAt(made, 'metadata', 'uid') ?? '');
}

type Edit = Of<'edit'>['what'];

const edits: Readonly<Record<Edit, (run: Running, name: Name) => Promise<unknown>>> = {
  async settings(run, name) {
    const { client } = run.world;
    const { body } = await client.get(providerPath(run, name));
    const packagePullPolicy = at(body, 'spec', 'packagePullPolicy') === 'Always' ? 'IfNotPresent' : 'Always';
    await client.patch(providerPath(run, name), { spec: { packagePullPolicy } });
  },
  async state(run, name) {
    const revision = textAt(await entryOf(run, name), 'name');
    if (revision === undefined) return;
    must(await run.world.client.patch(packagePath('providerrevisions', revision), { spec: { desiredState: 'Inactive' } }));
    run.inactive.add(name);
  },
  async label(run, name) {
    const path = crdPath(run, name, 'ones');
    const answer = await run.world.client.patch(path, { metadata: { labels: { team: 'mine' } } });
    if (answer.code === 200) run.labelled.set(path, textAt(answer.body, 'metadata', 'uid') ?? '');
  },
  async transaction(run, name) {
    const { code, body } = await run.world.client.get(providerPath(run, name));
    const made = code === 200 ? await transactionsOf(run, body) : [];
    const createdAt = (one: JsonObject): string => textAt(one, 'metadata', 'creationTimestamp') ?? '';
    const newest = made.toSorted((left, right) => createdAt(left).localeCompare(createdAt(right))).at(-1);
    if (newest === undefined) return;
    await run.world.client.delete(ptxPath(textAt(newest, 'metadata', 'name')), { propagationPolicy: 'Background' });
    run.deleted += 1;
  },
};
