// Generated histories of Packages that make their own package transactions, on the real API server, with a real registry: installs,
// updates, downgrades, deletions, edits by hand, moved tags, a registry that is away, and hooks that die. Two hooks take the calls in turn.
// When nothing is under way, the invariants hold (history-invariants.ts), and calls write nothing (history-under-way.ts).
//
// `JANUS_PACKAGES_HISTORIES=100 npm test -- test/packages/histories.test.ts` tries a hundred. JANUS_TEST_SEED=<seed> repeats them.
import fc from 'fast-check';
import t from 'tap';
import { type JsonObject, objectAt, textAt } from '../../hooks/objects/json.ts';
import { must, waitFor } from '../support/client.ts';
import { startPackageAdmission } from '../support/package-admission.ts';
import { startOwnLoops } from '../support/package-loops.ts';
import { definitionPath, lockPath, ptxPath, stagesPath } from '../support/package-paths.ts';
import { startPackageWorld } from '../support/package-world.ts';
import { type History, histories, names } from './histories.ts';
import { violationsOf } from './history-invariants.ts';
import { carryOut, crdName, entryOf, type Noted, providerPath, publish, type Running } from './history-run.ts';
import { isQuiet, isSwept, underWay, untilSettled } from './history-under-way.ts';

t.setTimeout(21_600_000);

const seed = Number(process.env.JANUS_TEST_SEED ?? 20_261_127);
const count = Number(process.env.JANUS_PACKAGES_HISTORIES ?? 2);

const world = await startPackageWorld(t, { isBalanced: true, environment: { JANUS_PACKAGES_OWN: 'annotated' } });
const { client } = world;
const loops = await startOwnLoops(t, { kubeconfig: world.plane.kubeconfig, hookUrls: [world.address] });

const admission = await startPackageAdmission(client, t);

/** Every package transaction is kept, so that the test sees which ones there were. */
const keepsAll = { 'pkg.crossplane.io/transaction-history-limit': '0' };
const lock = { apiVersion: 'pkg.crossplane.io/v1beta1', kind: 'Lock', metadata: { name: 'lock', annotations: keepsAll } };
must(await client.create(lockPath.replace(/\/lock$/, ''), { ...lock, packages: [] }));

function noteWrites(): Noted {
  const noted: Noted = { writes: [], tries: 0, successes: 0 };
  const noteLock = lockNoter(noted);
  admission.decide(({ resource, name, operation, dryRun, object }) => {
    if (dryRun) return undefined;
    noted.writes.push(`${operation} ${resource} ${name}`);
    if (resource === 'locks') noteLock(objectAt(object, 'metadata', 'annotations'));
    return undefined;
  });
  return noted;
}

function lockNoter(noted: Noted): (annotations: JsonObject) => void {
  let [holder, hasWritten] = ['', false];
  return (annotations) => {
    const now = textAt(annotations, 'pkg.crossplane.io/current-transaction') ?? '';
    const isWritten = textAt(annotations, 'packages.janus.io/holder-has-written') === 'true';
    if (now !== '' && now !== holder) noted.tries += 1;
    if (isWritten && !hasWritten) noted.successes += 1;
    [holder, hasWritten] = [now, isWritten];
  };
}

/** What the histories did. */
const figures = { bursts: 0, actions: 0, tries: 0, successes: 0, instances: 0 };

interface Trial {
  readonly id: string;
  /** The stages of ended package transactions go after ten minutes. Otherwise they go with their package transactions. */
  readonly isSweptFirst: boolean;
}

async function violationsIn({ id, isSweptFirst }: Trial, { releases, bursts }: History): Promise<readonly string[]> {
  const noted = noteWrites();
  const collections = { instances: new Map(), labelled: new Map(), inactive: new Set<never>() };
  const run: Running = { ...collections, world, calls: () => loops.calls().length, noted, id, releases, deleted: 0 };
  for (const { name, version } of releases) await publish(run, name, version);
  for (const burst of bursts) {
    await carryOut(run, burst, () => isQuiet(run));
    await untilSettled(run);
    const found = await violationsOf(run);
    if (found.length > 0) return [JSON.stringify(burst), ...found];
    figures.bursts += 1;
    figures.actions += burst.length;
  }
  figures.instances += run.instances.size;
  const left = await clear(run, isSweptFirst);
  figures.tries += noted.tries;
  figures.successes += noted.successes;
  return left;
}

/** Deletes all Packages of the history. Returns what is left of them, in words. */
async function clear(run: Running, isSweptFirst: boolean): Promise<readonly string[]> {
  const patience = { timeoutMs: 900_000 };
  for (const path of run.instances.keys()) must(await client.delete(path));
  run.instances.clear();
  for (const name of names) await client.delete(providerPath(run, name), { propagationPolicy: 'Background' });
  const isGone = async (): Promise<boolean> => {
    const codes = await Promise.all(names.map(async (name) => (await client.get(providerPath(run, name))).code));
    const busy = await underWay(run);
    if (codes.every((code) => code === 404) && busy.length === 0) return true;
    throw new Error(`${codes} ${busy.join('; ')}`);
  };
  await waitFor(isGone, 'all Packages to go', patience);
  const areSwept = async (): Promise<boolean> => (await client.list(ptxPath())).items.every(isSwept);
  if (isSweptFirst) await waitFor(areSwept, 'the stages of all package transactions to go', patience);
  const entries = await Promise.all(names.map((name) => entryOf(run, name)));
  const stages = async (): Promise<readonly JsonObject[]> => (await client.list(stagesPath)).items;
  const found = [...(await violationsOf(run)), ...entries.filter(Boolean), ...(isSweptFirst ? await stages() : [])];
  for (const name of names) await client.delete(definitionPath(crdName(run, name, 'twos')));
  for (const one of (await client.list(ptxPath())).items) await client.delete(ptxPath(textAt(one, 'metadata', 'name')));
  await waitFor(async () => (await client.list(ptxPath())).items.length === 0, 'all package transactions to go', patience);
  return [...found, ...(await stages())].map((one) => `at the end: ${JSON.stringify(one)}`);
}

t.test(`${count} generated histories, JANUS_TEST_SEED=${seed}`, async (t) => {
  for (const [index, history] of fc.sample(histories, { seed, numRuns: count }).entries()) {
    const found = await violationsIn({ id: `h${index}`, isSweptFirst: index === 0 }, history).catch((error: unknown) => [
      String(error),
    ]);
    t.same(found, [], found.length === 0 ? `${index}` : `JANUS_TEST_SEED=${seed}, ${index}: ${JSON.stringify(history)}`);
    if (found.length > 0) return;
  }
  t.comment(JSON.stringify(figures));
  for (const [what, number] of Object.entries(figures)) t.ok(number > 0, `${number} ${what}`);
});
