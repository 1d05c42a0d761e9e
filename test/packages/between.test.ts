// What appears while a Delete is under way: an instance, a Usage, another owner in control, or a package that requires the package.
// It appears before each call, and right before the DELETE of a CRD. Before the first deletion the try is undone. After it the object in
// use stays. docs/guarantees.md names the moments in which the Delete misses it (Known limits).
import t, { type Test } from 'tap';
import { packageUidLabel } from '../../hooks/crossplane/model/own.ts';
import { at, type JsonObject, objectsAt, textAt } from '../../hooks/objects/json.ts';
import { must, waitFor } from '../support/client.ts';
import { createDriver } from '../support/package-driver.ts';
import { definitionPath, lockPath, packagePath, ptxPath } from '../support/package-paths.ts';
import { conditionIn, startPackageWorld, statusOf } from '../support/package-world.ts';
import { definitionOf } from '../support/registry/builder.ts';
import { createUsage, definitionKind, serveUsages, usagesPath } from '../support/usages.ts';

t.setTimeout(1_200_000);

const world = await startPackageWorld(t, { isByHand: true });
const { client, source } = world;
/** Acts of somebody else before a write of the hook. */
let meanwhile: (what: string) => Promise<void> = async () => undefined;
const driver = createDriver(t, world, { before: (what) => meanwhile(what) });
await serveUsages(client);

const crd = (name: string, plural: string): string => definitionPath(`${plural}.${name}.org`);
const plurals = ['ones', 'twos'];

/** Somebody who comes in the way of the Delete of `twos`, the CRD that the hook deletes last. */
interface Comer {
  come(name: string): Promise<unknown>;
  leave(name: string): Promise<unknown>;
  /** How the Delete ends if it comes before the first deletion; undefined: as without it. */
  readonly reason?: RegExp;
  /** Whether `twos` stays if it comes before the call that deletes `twos`. */
  readonly holds: boolean;
  /** Whether `twos` stays if it comes right before the DELETE. */
  readonly holdsAtOnce: boolean;
}

const instance: Comer = {
  async come(name) {
    const object = { apiVersion: `${name}.org/v1beta1`, kind: 'Two', metadata: { name: 'late' } };
    must(await client.create(`/apis/${name}.org/v1beta1/twos`, object));
  },
  leave: async (name) => client.delete(`/apis/${name}.org/v1beta1/twos/late`),
  reason: /^Failed ResourcesInUse/,
  holds: true,
  holdsAtOnce: false,
};

const usage: Comer = {
  come: (name) => createUsage(client, name, { ...definitionKind, name: `twos.${name}.org` }),
  leave: async (name) => client.delete(`${usagesPath}/${name}`),
  reason: /^Failed ResourcesInUse/,
  holds: true,
  holdsAtOnce: false,
};

/** The Lock names it, as Crossplane or a person would write it. */
const dependent: Comer = {
  async come(name) {
    const lock = must(await client.get(lockPath));
    const dependencies = [{ package: source(name), kind: 'Provider', constraints: '>=v1.0.0' }];
    const own = `registry.example.org/acme/late-${name}`;
    const entry = { name: `late-${name}-000000000000`, kind: 'Provider', source: own, version: 'v1.0.0', dependencies };
    const provider = { apiVersion: 'pkg.crossplane.io/v1', kind: 'Provider', metadata: { name: `late-${name}` } };
    must(await client.create(packagePath('providers'), { ...provider, spec: { package: `${own}:v1.0.0` } }));
    must(await client.update(lockPath, { ...lock, packages: [...objectsAt(lock, 'packages'), entry] }));
  },
  async leave(name) {
    const lock = must(await client.get(lockPath));
    const packages = objectsAt(lock, 'packages');
    const others = packages.filter((one) => !textAt(one, 'name')?.startsWith(`late-${name}-`));
    t.equal(others.length, packages.length - 1, `${name}: the Lock keeps the entry of the dependent`);
    must(await client.delete(packagePath('providers', `late-${name}`)));
    must(await client.update(lockPath, { ...lock, packages: others }));
  },
  reason: /^Failed (InstallationFailed|RequiredByOthers)/,
  holds: true,
  holdsAtOnce: false,
};

const stranger = textAt(must(await client.get('/api/v1/namespaces/default')), 'metadata', 'uid') ?? '';

const owner: Comer = {
  async come(name) {
    const live = must(await client.get(crd(name, 'twos')));
    const others = objectsAt(live, 'metadata', 'ownerReferences').map((one) => ({ ...one, controller: false }));
    const theirs = { apiVersion: 'v1', kind: 'Namespace', name: 'default', uid: stranger, controller: true };
    must(await client.patch(crd(name, 'twos'), { metadata: { ownerReferences: [...others, theirs] } }));
  },
  leave: async (name) => client.patch(crd(name, 'twos'), { metadata: { ownerReferences: null } }),
  holds: true,
  holdsAtOnce: true,
};

const isOver = (status: JsonObject): boolean => ['Succeeded', 'Failed'].includes(textAt(status, 'phase') ?? '');
const uidAt = async (path: string): Promise<string | undefined> => textAt((await client.get(path)).body, 'metadata', 'uid');
const uidsOf = (name: string) => Promise.all(plurals.map((plural) => uidAt(crd(name, plural))));

async function isServed(name: string): Promise<boolean> {
  const { code, body } = await client.get(crd(name, 'twos'));
  return code === 200 && at(body, 'metadata', 'deletionTimestamp') === undefined;
}

async function install(t: Test, name: string): Promise<readonly unknown[]> {
  await world.publish({ name, tag: 'v1.0.0', objects: plurals.map((plural) => definitionOf(plural, `${name}.org`)) });
  await world.install(name, `${source(name)}:v1.0.0`, { packageName: name });
  t.equal(conditionIn(await driver.drive(name), 'Ready')?.status, 'True');
  const object = { apiVersion: `${name}.org/v1beta1`, kind: 'Two', metadata: { name: 'late' } };
  const tried = () => client.create(`/apis/${name}.org/v1beta1/twos`, object, { dryRun: 'All' });
  await waitFor(async () => (await tried()).code === 201, `${name} to accept instances`);
  return uidsOf(name);
}

async function createDelete(name: string, moment: number | string, labels: JsonObject = {}): Promise<string> {
  const ptx = `${name}-gone-${moment}`;
  const object = { apiVersion: 'pkg.crossplane.io/v1alpha1', kind: 'Transaction', metadata: { name: ptx, labels } };
  const spec = { change: 'Delete', retryLimit: 1, delete: { source: source(name) } };
  must(await client.create(ptxPath(), { ...object, spec }));
  return ptx;
}

/** Calls until the Delete ends. `before` does something before each call that may change something. */
async function driven(ptx: string, before: (calls: number, status: JsonObject) => Promise<void>): Promise<JsonObject> {
  let [status, calls, isNews]: [JsonObject, number, boolean] = [{}, 0, true];
  const call = async (): Promise<boolean> => {
    if (isNews) {
      await before(calls, status);
      calls += 1;
    }
    const next = statusOf(await driver.step(ptx));
    // While a stage runs, the calls only wait.
    isNews = at(next, 'version') !== at(status, 'version') || textAt(next, 'phase') === 'Deleting';
    status = next;
    return isOver(status);
  };
  await waitFor(call, `${ptx} to end`, { everyMs: 20, timeoutMs: 120_000 });
  return status;
}

async function unharmed(t: Test, name: string, uids: readonly unknown[], when: string): Promise<void> {
  t.same(await uidsOf(name), uids, `${when}: nothing is deleted`);
  const labelSelector = `pkg.crossplane.io/package=${name}`;
  const { items } = await client.list(packagePath('providerrevisions'), { labelSelector });
  const states = items.map((one) => textAt(one, 'spec', 'desiredState'));
  t.same(states, ['Active'], `${when}: the revision is Active again`);
}

const outcomeOf = (status: JsonObject): string => `${textAt(status, 'outcome', 'kind')} ${textAt(status, 'outcome', 'reason')}`;

/** Whether the comer came before the first deletion, after it, or not at all, because its CRD is deleted. */
type Came = 'before' | 'after' | 'late';

interface Trial {
  readonly name: string;
  /** Those of its CRDs. */
  readonly uids: readonly unknown[];
  readonly comer: Comer;
  /** The number of the call before which the comer comes. */
  readonly moment: number;
}

async function comes({ name, comer }: Trial, status: JsonObject): Promise<Came> {
  if (!(await isServed(name))) return 'late';
  await comer.come(name);
  return textAt(status, 'deletionTime') === undefined ? 'before' : 'after';
}

async function tried(t: Test, trial: Trial): Promise<Came> {
  const { name, comer, moment } = trial;
  const seen: Came[] = [];
  const status = await driven(await createDelete(name, moment), async (calls, before) => {
    if (calls === moment) seen.push(await comes(trial, before));
  });
  const [came = 'late'] = seen;
  const when = `${moment}, ${came}: ${outcomeOf(status)}`;
  if (came === 'late') {
    t.match(status, { phase: 'Succeeded' }, when);
    return came;
  }
  await endsWell(t, trial, { came, when, status });
  await comer.leave(name);
  if (/CleanupPending/.test(outcomeOf(status))) await goesOn(t, name, when);
  return came;
}

/** The next Delete deletes the rest of the package. */
async function goesOn(t: Test, name: string, when: string): Promise<void> {
  const status = await driven(await createDelete(name, 'next'), async () => undefined);
  t.match(status, { phase: 'Succeeded' }, `${when}, then ${outcomeOf(status)}`);
  t.same(await uidsOf(name), [undefined, undefined], `${when}: the next Delete goes on`);
}

interface End {
  readonly came: Came;
  readonly when: string;
  readonly status: JsonObject;
}

async function endsWell(t: Test, { name, comer, uids }: Trial, { came, when, status }: End): Promise<void> {
  if (came === 'before' && comer.reason !== undefined) {
    t.match(outcomeOf(status), comer.reason, `${when}: ${JSON.stringify(status)}`);
    await unharmed(t, name, uids, when);
  } else t.equal((await uidsOf(name))[1], comer.holds ? uids[1] : undefined, `${when}: whether twos stays`);
}

for (const [what, comer] of Object.entries({ instance, usage, dependent, owner })) {
  t.test(`${what} that appears before each call of a Delete`, async (t) => {
    const seen = { before: 0, after: 0, late: 0 };
    let [name, uids]: [string, readonly unknown[]] = ['', []];
    for (let moment = 0; seen.late === 0; moment += 1) {
      // A try that is undone leaves the package as it was.
      if (name === '') {
        name = `${what}${moment}`;
        uids = await install(t, name);
      }
      const came = await tried(t, { name, moment, comer, uids });
      seen[came] += 1;
      if (came !== 'before' || comer.reason === undefined) name = '';
    }
    t.ok(seen.before >= 3, `${seen.before} before the first deletion`);
    t.ok(seen.after > 0, `${seen.after} after it`);
  });

  t.test(`${what} that appears right before the DELETE of its CRD`, async (t) => {
    const name = `${what}-at-once`;
    const uids = await install(t, name);
    let deletions = 0;
    meanwhile = async (call) => {
      if (call !== 'delete CustomResourceDefinition') return;
      deletions += 1;
      if (deletions === plurals.length) await comer.come(name);
    };
    const status = await driven(await createDelete(name, 'now'), async () => undefined);
    meanwhile = async () => undefined;
    t.equal(deletions, plurals.length, outcomeOf(status));
    const expected = comer.holdsAtOnce ? uids[1] : undefined;
    t.equal((await uidsOf(name))[1], expected, `${outcomeOf(status)}: whether twos stays`);
    await comer.leave(name);
  });
}

t.test('a Package that is let go before each call of its Delete: before the first deletion nothing is deleted', async (t) => {
  const seen = { before: 0, after: 0 };
  for (let moment = 0; seen.after === 0; moment += 1) {
    const name = `let-go${moment}`;
    const uids = await install(t, name);
    const path = packagePath('providers', name);
    const provider = must(await client.patch(path, { metadata: { finalizers: ['test.janus.io/held'] } }));
    must(await client.delete(path));
    const ptx = await createDelete(name, moment, { [packageUidLabel]: textAt(provider, 'metadata', 'uid') ?? '' });
    const status = await driven(ptx, async (calls, before) => {
      if (calls !== moment) return;
      seen[textAt(before, 'deletionTime') === undefined ? 'before' : 'after'] += 1;
      must(await client.patch(path, { metadata: { finalizers: null } }));
    });
    if (seen.after > 0) t.match(status, { phase: 'Succeeded' });
    else {
      t.match(outcomeOf(status), /^Failed (InvalidPackage|ResourcesInUse)/, `${moment}: ${JSON.stringify(status)}`);
      t.match(textAt(status, 'outcome', 'message'), /is not being deleted/);
      await unharmed(t, name, uids, `${moment}`);
    }
  }
  t.ok(seen.before >= 3, `${seen.before} before the first deletion`);
});
