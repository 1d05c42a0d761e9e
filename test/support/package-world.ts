// A control plane of its own with the engine, package transactions, a registry and Metacontroller's loops: there is one Lock in a
// cluster, so tests of packages share none.
import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { at, isList, isObject, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { type ControlPlane, startControlPlane } from '../controlplane/start.ts';
import { type Client, connect, must, type Teardown, waitFor } from './client.ts';
import { engineKubeconfig } from './engine-identity.ts';
import { freeFolder, hookEnvironment, ready, startHookProcess, withParent } from './hook-process.ts';
import { hookToken } from './hook-token.ts';
import { startInTurn } from './in-turn.ts';
import { installManifests } from './install.ts';
import { type Loop, type LoopKind, startLoop } from './metacontroller/loop.ts';
import { hasOwnKinds, installPackages } from './package-install.ts';
import { ptxPath } from './package-paths.ts';
import { type PackageKind, packageOf, packageYaml, push } from './registry/builder.ts';
import { startRegistry } from './registry/process.ts';
import { startProxy } from './registry/proxy.ts';

export interface PackageWorld {
  readonly client: Client;
  readonly plane: ControlPlane;
  /** The proxy before the registry. */
  readonly proxy: Awaited<ReturnType<typeof startProxy>>;
  /** `127.0.0.1:PORT/acme/NAME`. */
  source(name: string): string;
  /** Publishes a package; returns its digest. */
  publish(release: Release): Promise<string>;
  /** Creates a package transaction for a Provider. */
  install(name: string, package_: string, more?: InstallOptions): Promise<JsonObject>;
  read(name: string): Promise<JsonObject>;
  /** The status once the condition has this status. */
  condition(name: string, type: string, status: string): Promise<JsonObject>;
  finished(name: string): Promise<JsonObject>;
  /** Serves the loops. */
  readonly hook: RunningHook;
  /** Where the loops call. */
  readonly address: string;
  /** Another hook. */
  startHook(): Promise<RunningHook>;
  /** Ends all hooks behind `isBalanced` at once and without notice, and starts as many again. */
  replaceHooks(): Promise<void>;
  startPackageLoop(hookUrl: string): Promise<Loop>;
  /** With the identity and the rights of the engine. */
  readonly engineKubeconfig: string;
}

interface Release {
  /** `Provider` if absent. */
  readonly kind?: PackageKind;
  readonly name: string;
  readonly tag: string;
  /** Constraints by the names of packages that are published already; others count as Providers. */
  readonly requires?: Readonly<Record<string, string>>;
  readonly objects?: readonly object[];
}

interface InstallOptions {
  readonly retryLimit?: number;
  readonly uid?: string;
  readonly kind?: string;
  readonly packageName?: string;
  readonly annotations?: JsonObject;
  /** More members of the spec of the package. */
  readonly spec?: JsonObject;
  readonly dryRun?: boolean;
}

interface RunningHook {
  readonly url: string;
  readonly process: ChildProcess;
  kill(): Promise<void>;
}

const crossplaneMember = 'revisionHistoryLimit';

/** A member of the spec of each package with more digits than a number of JavaScript keeps; an unknown one if the kinds allow it. */
export const memberWithDigits = hasOwnKinds ? 'novel' : crossplaneMember;

export interface WorldOptions {
  /** Nobody calls for package transactions: the test does. */
  readonly isByHand?: boolean;
  /** Two hooks serve the loops, call by call in turn. */
  readonly isBalanced?: boolean;
  readonly loop?: LoopKind;
  /** Added to the flags of the API server. */
  readonly apiServerFlags?: readonly string[];
  /** Of Node, for the hooks. */
  readonly flags?: readonly string[];
  /** A folder with the CRDs of Crossplane, in place of our own. */
  readonly definitions?: string;
  /** Called before the first hook starts. */
  readonly before?: (client: Client, kubeconfig: string) => Promise<void>;
  /** Added to the environment of the hooks. */
  readonly environment?: Readonly<Record<string, string>>;
}

export async function startPackageWorld(t: Teardown, options: WorldOptions = {}): Promise<PackageWorld> {
  const { apiServerFlags = [] } = options;
  const plane = await startControlPlane({ report: () => undefined, apiServerFlags });
  t.teardown(() => plane.stop());
  const client = connect(plane.kubeconfig);
  t.teardown(() => client.close());
  await installManifests(client);
  await installPackages(client, options.definitions);
  await options.before?.(client, plane.kubeconfig);
  const registry = await startRegistry(t);
  const proxy = await startProxy(t, registry.origin);
  const engine = await engineKubeconfig(t, client, plane.kubeconfig);
  const startHook = async (): Promise<RunningHook> => {
    const environment = { ...hookEnvironment(t, engine, 'janus-system'), JANUS_PACKAGES: 'true' };
    const own = { ...environment, JANUS_PACKAGES_CACHE: join(freeFolder(t), 'cache'), ...options.environment };
    const hook = startHookProcess(t, own, [process.execPath, ...(options.flags ?? []), ...withParent, 'server/main.ts']);
    const url = await ready(await hook.address());
    return {
      url,
      process: hook.process,
      kill: async () => {
        hook.process.kill('SIGKILL');
        await hook.ended;
      },
    };
  };
  const common = { kubeconfig: plane.kubeconfig, token: hookToken, matchLabels: {}, ...(options.loop && { kind: options.loop }) };
  const started = async (loop: Promise<Loop>): Promise<Loop> => {
    const running = await loop;
    t.teardown(() => running.stop());
    return running;
  };
  const startEngineLoop = (hookUrl: string): Promise<Loop> => started(startLoop({ ...common, hookUrl, name: 'janus' }));
  const startPackageLoop = (hookUrl: string): Promise<Loop> => {
    const parentResource = { apiVersion: 'pkg.crossplane.io/v1alpha1', resource: 'transactions' };
    const hook = { hookUrl: `${hookUrl}/packages`, name: 'janus-packages', parentResource, customize: true };
    return started(startLoop({ ...common, ...hook }));
  };
  const hook = await startHook();
  const behind = [hook, ...(options.isBalanced === true ? [await startHook()] : [])];
  const front = await startInTurn(() => behind.map(({ url }) => url));
  t.teardown(() => front.close());
  const replaceHooks = async (): Promise<void> => {
    const before = behind.splice(0);
    await Promise.all(before.map((one) => one.kill()));
    behind.push(...(await Promise.all(before.map(() => startHook()))));
  };
  const address = behind.length > 1 ? front.address : hook.url;
  await startEngineLoop(address);
  if (options.isByHand !== true) await startPackageLoop(address);
  const large = options.definitions === undefined ? memberWithDigits : crossplaneMember;
  const parts = { plane, client, proxy, hook, address, startHook, replaceHooks, startPackageLoop, engineKubeconfig: engine };
  return worldOf({ ...parts, origin: registry.origin, large });
}

type Shared =
  | 'plane'
  | 'client'
  | 'proxy'
  | 'hook'
  | 'address'
  | 'startHook'
  | 'replaceHooks'
  | 'startPackageLoop'
  | 'engineKubeconfig';

type Parts = Pick<PackageWorld, Shared> & {
  readonly origin: string;
  /** The member of a spec with more digits than a number of JavaScript keeps. */
  readonly large: string;
};

function worldOf({ origin, large, ...parts }: Parts): PackageWorld {
  const { client, proxy } = parts;
  const source = (name: string): string => `${proxy.host}/acme/${name}`;
  const published = new Map<string, PackageKind>();
  const read = async (name: string): Promise<JsonObject> => must(await client.get(ptxPath(name)));
  const condition: PackageWorld['condition'] = (name, type, status) =>
    waitFor(
      async () => {
        const found = statusOf(await read(name));
        if (conditionIn(found, type)?.status === status) return found;
        throw new Error(JSON.stringify(found));
      },
      `package transaction ${name} to be ${type} ${status}`,
      { timeoutMs: 900_000 },
    );
  return {
    ...parts,
    source,
    read,
    condition,
    finished: (name) => condition(name, 'Finished', 'True'),
    async publish({ kind = 'Provider', name, tag, requires = {}, objects = [] }) {
      published.set(name, kind);
      const dependsOn = Object.entries(requires).map(([one, version]) => ({
        kind: published.get(one) ?? 'Provider',
        source: source(one),
        version,
      }));
      const image = await packageOf(packageYaml({ kind, name, dependsOn }, objects));
      return push({ origin, repository: `acme/${name}`, tag }, image);
    },
    async install(name, package_, options = {}) {
      const { retryLimit = 5, uid, kind = 'Provider', packageName = 'root', annotations = {}, dryRun } = options;
      const metadata = { name: packageName, ...(uid === undefined ? {} : { uid }) };
      const snapshot = {
        apiVersion: 'pkg.crossplane.io/v1',
        kind,
        metadata,
        spec: { package: package_, [large]: JSON.rawJSON('9007199254740993'), ...options.spec },
      };
      const more = dryRun === undefined ? {} : { dryRun };
      const spec = { change: 'Install', install: { package: snapshot }, retryLimit, ...more };
      const object = { apiVersion: 'pkg.crossplane.io/v1alpha1', kind: 'Transaction', metadata: { name, annotations }, spec };
      return must(await client.create(ptxPath(), object));
    },
  };
}

export function statusOf(object: JsonObject): JsonObject {
  const status = at(object, 'status');
  return isObject(status) ? status : {};
}

interface Condition {
  readonly status: string | undefined;
  readonly reason: string | undefined;
  readonly message: string | undefined;
}

export function conditionIn(status: JsonObject, type: string): Condition | undefined {
  const conditions = at(status, 'conditions');
  const found = isList(conditions) ? conditions.find((one) => textAt(one, 'type') === type) : undefined;
  if (found === undefined) return undefined;
  return { status: textAt(found, 'status'), reason: textAt(found, 'reason'), message: textAt(found, 'message') };
}

/** `Type status/reason` of all conditions. */
export function storyOf(status: JsonObject): readonly string[] {
  return ['Validated', 'Installed', 'Ready', 'Synced', 'Finished'].map((type) => {
    const found = conditionIn(status, type);
    const why = found?.reason === 'ReconcileError' ? ` (${found.message})` : '';
    return `${type} ${found?.status}/${found?.reason}${why}`;
  });
}
