// Two families of providers with the same kinds, from two vendors, and what must hold while one of them takes the place of the other:
// every acknowledged write and every uid is there, and each CRD has one controller at every moment.
import { at, isList, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { type Client, must, waitFor } from './client.ts';
import { connectAsMetacontroller } from './metacontroller/connection.ts';
import { readEvents } from './metacontroller/watch-stream.ts';
import { definitionPath, ptxPath } from './package-paths.ts';
import type { PackageWorld } from './package-world.ts';
import { definitionOf } from './registry/builder.ts';

/** The last parts of the repositories. The root requires the other two, and the second one requires the first. */
const members = ['family', 'network', 'storage'] as const;

type Member = (typeof members)[number];

/** So many plurals of kinds of each member: up to 26. */
export function pluralsOfEach(count: number): Readonly<Record<Member, readonly string[]>> {
  const pluralsOf = (member: Member): readonly string[] =>
    Array.from({ length: count }, (_, index) => `${member}${String.fromCharCode(97 + index)}s`);
  return { family: pluralsOf('family'), network: pluralsOf('network'), storage: pluralsOf('storage') };
}

interface Family {
  readonly vendor: string;
  readonly group: string;
  /** The plurals of the kinds of each member. */
  readonly plurals: Readonly<Record<Member, readonly string[]>>;
  readonly tag?: string;
  /** The schema of `spec` of each kind. */
  readonly schema?: (plural: string) => object;
}

const requires: Readonly<Record<Member, readonly Member[]>> = { family: [], network: ['family'], storage: ['family', 'network'] };

const counted = { type: 'object', properties: { count: { type: 'integer' }, note: { type: 'string' } } };

/** Publishes the three packages as `VENDOR/family` and so on; returns their digests. */
export async function publishFamily(world: PackageWorld, family: Family): Promise<Readonly<Record<Member, string>>> {
  const { vendor, group, plurals, tag = 'v1.0.0', schema = () => counted } = family;
  const digests: [Member, string][] = [];
  for (const member of members) {
    const objects = plurals[member].map((plural) => definitionOf(plural, group, schema(plural)));
    const needs = requires[member].map((one) => [`${vendor}/${one}`, '>=v1.0.0'] as const);
    digests.push([
      member,
      await world.publish({ name: `${vendor}/${member}`, tag, requires: Object.fromEntries(needs), objects }),
    ]);
  }
  return Object.fromEntries(digests) as Record<Member, string>;
}

interface Wish {
  readonly from: string;
  readonly to: string;
  /** The name of the package object of the new root. */
  readonly packageName: string;
  readonly kind?: string;
  readonly retryLimit?: number;
  readonly dryRun?: boolean;
}

/** A package transaction that replaces the package of the source `from` by the package `to`. */
export function replaceOf(name: string, { from, to, packageName, kind = 'Provider', retryLimit = 1, dryRun }: Wish): JsonObject {
  const package_ = { apiVersion: 'pkg.crossplane.io/v1', kind, metadata: { name: packageName }, spec: { package: to } };
  const spec = { change: 'Replace', replace: { source: from, package: package_ }, retryLimit };
  const more = dryRun === undefined ? {} : { dryRun };
  return { apiVersion: 'pkg.crossplane.io/v1alpha1', kind: 'Transaction', metadata: { name }, spec: { ...spec, ...more } };
}

export async function replace({ client }: PackageWorld, name: string, wish: Wish): Promise<JsonObject> {
  return must(await client.create(ptxPath(), replaceOf(name, wish)));
}

export const instancesPath = (group: string, plural: string, name = ''): string =>
  `/apis/${group}/v1beta1/${plural}${name === '' ? '' : `/${name}`}`;

/** Creates so many instances of each kind, named by their number. */
export async function createInstances(client: Client, group: string, plurals: readonly string[], each: number): Promise<void> {
  for (const plural of plurals) {
    const kind = plural.charAt(0).toUpperCase() + plural.slice(1, -1);
    const path = instancesPath(group, plural);
    for (let number = 0; number < each; number += 1) {
      const object = {
        apiVersion: `${group}/v1beta1`,
        kind,
        metadata: { name: `i-${number}` },
        spec: { count: 0, note: 'mine' },
      };
      await waitFor(
        async () => [201, 409].includes((await client.create(path, object)).code),
        `${plural} ${number} to be created`,
      );
    }
  }
}

interface Written {
  readonly path: string;
  readonly uid: string;
  /** The last value that the API server has acknowledged, and the last that was sent. */
  acknowledged: number;
  sent: number;
}

interface Writers {
  /** Writes that were acknowledged so far. */
  acknowledged(): number;
  /** What of the writes is not there, in words. */
  stop(): Promise<readonly string[]>;
}

/** Somebody who writes the instances all the time, `atOnce` at a time. */
export async function startWriters(client: Client, paths: readonly string[], atOnce = 4): Promise<Writers> {
  const found = await Promise.all(paths.map(async (path) => ({ path, object: must(await client.get(path)) })));
  const all = found.map(
    ({ path, object }): Written => ({
      ...{ path, uid: textAt(object, 'metadata', 'uid') ?? '' },
      ...{ acknowledged: Number(at(object, 'spec', 'count')), sent: Number(at(object, 'spec', 'count')) },
    }),
  );
  let [isOver, next] = [false, 0];
  const write = async (): Promise<void> => {
    while (!isOver) {
      const one = all[next % all.length];
      next += 1;
      if (one === undefined) return;
      const value = one.sent + 1;
      one.sent = value;
      const { code } = await client.patch(one.path, { spec: { count: value } });
      if (code === 200) one.acknowledged = Math.max(one.acknowledged, value);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  const writing = Array.from({ length: Math.min(atOnce, all.length) }, write);
  return {
    acknowledged: () => all.reduce((sum, { acknowledged }) => sum + acknowledged, 0),
    async stop() {
      isOver = true;
      await Promise.all(writing);
      const lost = await Promise.all(all.map(async (one) => lostOf(one, await client.get(one.path))));
      return lost.flat();
    },
  };
}

function lostOf(
  { path, uid, acknowledged, sent }: Written,
  { code, body }: { readonly code: number; readonly body: JsonObject },
) {
  if (code !== 200) return [`${path}: ${code}`];
  const [count, found] = [Number(at(body, 'spec', 'count')), textAt(body, 'metadata', 'uid')];
  return [
    ...(found === uid ? [] : [`${path}: another uid`]),
    ...(count >= acknowledged && count <= sent ? [] : [`${path}: acknowledged ${acknowledged}, found ${count}`]),
  ];
}

/**
 * Watches the objects of a path, from what is there. It has no gap: one watch begins at the version at which the one before it ended.
 * The returned function ends the watch.
 */
export async function watchAll(
  { client, plane }: PackageWorld,
  path: string,
  see: (type: string, object: JsonObject) => void,
): Promise<() => Promise<void>> {
  const { body } = await client.list(path, { limit: 1 });
  let [from, isOver] = [textAt(body, 'metadata', 'resourceVersion') ?? '', false];
  const end = new AbortController();
  const api = await connectAsMetacontroller({ kubeconfig: plane.kubeconfig, signal: end.signal });
  const look = async (): Promise<void> => {
    const chunks = await api.watch(`${path}?watch=true&timeoutSeconds=1&resourceVersion=${from}`);
    for await (const { type, object } of readEvents(chunks)) {
      from = textAt(object, 'metadata', 'resourceVersion') ?? from;
      see(type, object);
    }
  };
  const watching = (async () => {
    for (let isLast = false; !isLast; ) {
      isLast = isOver;
      await look();
    }
    await api.close();
  })();
  return async () => {
    isOver = true;
    await watching;
  };
}

interface ControllerWatch {
  /** Moments at which a definition of the group did not have one controller, in words. */
  stop(): Promise<readonly string[]>;
}

/** Watches the definitions of a group, which are CRDs unless the path says otherwise. */
export async function watchControllers(world: PackageWorld, group: string, path = definitionPath()): Promise<ControllerWatch> {
  const violations: string[] = [];
  const stop = await watchAll(world, path, (type, object) => violations.push(...violationsIn(type, object, group)));
  return {
    async stop() {
      await stop();
      return violations;
    },
  };
}

function violationsIn(type: string, object: JsonObject, group: string): readonly string[] {
  if (textAt(object, 'spec', 'group') !== group) return [];
  const what = `${textAt(object, 'metadata', 'name')} at ${textAt(object, 'metadata', 'resourceVersion')}`;
  if (type === 'DELETED') return [`${what}: deleted`];
  const owners = at(object, 'metadata', 'ownerReferences');
  const controllers = (isList(owners) ? owners : []).filter((owner) => at(owner, 'controller') === true);
  return controllers.length === 1 ? [] : [`${what}: ${controllers.length} controllers`];
}

/** The name of the revision that controls a CRD. */
export async function controllerOfDefinition(client: Client, name: string): Promise<string | undefined> {
  const owners = at(must(await client.get(definitionPath(name))), 'metadata', 'ownerReferences');
  return textAt(
    (isList(owners) ? owners : []).find((owner) => at(owner, 'controller') === true),
    'name',
  );
}
