// When the runtimes of packages end and start, as a watch sees it.
import { at, type JsonObject, objectsAt, textAt } from '../../hooks/objects/json.ts';
import { crossplaneNamespace } from './crossplane.ts';
import { packagePath, ptxPath } from './package-paths.ts';
import type { PackageWorld } from './package-world.ts';
import { watchAll } from './replacing.ts';

/** Moments in ms, of the runtime of a revision. */
interface Runtime {
  /** Its Deployment goes. */
  deleted?: number;
  /** Its last Pod is gone. */
  ended?: number;
  /** The revision becomes Active. */
  active?: number;
  /** Crossplane gets the revision: it is Active, and not paused. */
  begun?: number;
  /** Its Deployment is there. */
  created?: number;
  available?: number;
  /** The resource versions of these events: they order the events of several watches. */
  endedAt?: number;
  begunAt?: number;
}

interface Seen {
  /** Of these revisions, by their names. */
  of(names: readonly string[]): readonly Required<Runtime>[];
  /** The package transaction begins to verify. */
  readonly verifying: number;
  /** Its status has `gapSeconds`. */
  readonly measured: number;
}

/** A moment that the watch has not seen fails all comparisons. */
const moments = ['deleted', 'ended', 'active', 'begun', 'created', 'available', 'endedAt', 'begunAt'] as const;
const unseen = Object.fromEntries(moments.map((moment) => [moment, Number.NaN])) as unknown as Required<Runtime>;

export async function watchRollouts(world: PackageWorld): Promise<{ stop(): Promise<Seen> }> {
  const runtimes = new Map<string, Runtime>();
  let [verifying, measured]: [number | undefined, number | undefined] = [undefined, undefined];
  /** The first moment of each kind counts, and the end of the last Pod. */
  const note = (name: string | undefined, moment: keyof Runtime, value = performance.now()): void => {
    const runtime = runtimes.get(name ?? '') ?? {};
    runtimes.set(name ?? '', runtime);
    if (/^ended/.test(moment)) runtime[moment] = value;
    else runtime[moment] ??= value;
  };
  const versionOf = (object: JsonObject): number => Number(textAt(object, 'metadata', 'resourceVersion'));
  const isGoing = (type: string, object: JsonObject): boolean =>
    type === 'DELETED' || at(object, 'metadata', 'deletionTimestamp') !== undefined;
  const stops = await Promise.all([
    watchAll(world, `/apis/apps/v1/namespaces/${crossplaneNamespace}/deployments`, (type, object) => {
      const name = textAt(object, 'metadata', 'name');
      if (type === 'ADDED') note(name, 'created');
      if (isGoing(type, object)) note(name, 'deleted');
      else if (isAvailable(object)) note(name, 'available');
    }),
    watchAll(world, `/api/v1/namespaces/${crossplaneNamespace}/pods`, (type, object) => {
      if (type !== 'DELETED') return;
      const name = textAt(object, 'metadata', 'labels', 'pkg.crossplane.io/revision');
      note(name, 'ended');
      note(name, 'endedAt', versionOf(object));
    }),
    watchAll(world, packagePath('providerrevisions'), (type, object) => {
      if (textAt(object, 'spec', 'desiredState') !== 'Active' || isGoing(type, object)) return;
      const name = textAt(object, 'metadata', 'name');
      note(name, 'active');
      if (textAt(object, 'metadata', 'annotations', 'crossplane.io/paused') === 'true') return;
      note(name, 'begun');
      note(name, 'begunAt', versionOf(object));
    }),
    watchAll(world, ptxPath(), (_, object) => {
      if (textAt(object, 'status', 'phase') === 'Verifying') verifying ??= performance.now();
      if (at(object, 'status', 'gapSeconds') !== undefined) measured ??= performance.now();
    }),
  ]);
  return {
    async stop() {
      await Promise.all(stops.map((stop) => stop()));
      return {
        of: (names) => names.map((name) => ({ ...unseen, ...runtimes.get(name) })),
        verifying: verifying ?? Number.NaN,
        measured: measured ?? Number.NaN,
      };
    },
  };
}

function isAvailable(deployment: JsonObject): boolean {
  return objectsAt(deployment, 'status', 'conditions').some(({ type, status }) => type === 'Available' && status === 'True');
}
