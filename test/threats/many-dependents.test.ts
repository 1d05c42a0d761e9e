// Who may write beside an object decides how many dependents it has, and how they hang together. The engine has one thread for all
// Transactions: what it makes of them takes about as long as reading them, in lists and in chains.
import { setImmediate as nextLoopTurn } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { cascade, type Dependent, dependentOf, isMadeBy } from '../../hooks/transactions/hazards/dependents.ts';
import type { HazardContext } from '../../hooks/transactions/hazards/read-context.ts';
import { findOwners } from '../../hooks/transactions/hazards/read-owners.ts';
import { claims, readVolumes } from '../../hooks/transactions/hazards/read-volumes.ts';
import type { Lister } from '../../hooks/transactions/reading/listing.ts';
import { configMaps } from '../../hooks/transactions/writes/resources.ts';

const many = 20_000;

/** ms; a tenth of that is enough. */
const patience = 10_000;

/** Object `index`, whose controller is the object `above`. */
function made(index: number, above: number, resource = configMaps): Dependent {
  const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: `made-${above}`, uid: `uid-${above}`, controller: true };
  return dependentOf(resource, {
    metadata: { name: `made-${index}`, namespace: 'there', uid: `uid-${index}`, ownerReferences: [owner] },
  });
}

const indexes = Array.from({ length: many }, (_, index) => index);
/** Each below the one before it, the first below an object `uid--1` that is not among them. */
const chain = indexes.map((index) => made(index, index - 1));
/** From the lower end to the upper one, so that none above is known yet. */
const upwards = chain.toReversed();

async function inTime(t: Test, work: () => unknown): Promise<void> {
  const began = performance.now();
  await work();
  const took = Math.round(performance.now() - began);
  t.ok(took < patience, `in ${took} ms`);
}

t.test('the undo of a Create reads many dependents in bounded memory', async (t) => {
  const target = { apiVersion: 'v1', kind: 'ConfigMap', name: 'made--1', namespace: 'there' };
  const deletion = { resource: configMaps, target, object: { metadata: { uid: 'uid--1' } } };
  const around = { endpoints: [], bySign: [] };
  const stranger = dependentOf(configMaps, {
    metadata: { name: 'theirs', namespace: 'there', uid: 'theirs', ownerReferences: [{ uid: `uid-${many - 1}` }] },
  });
  await inTime(t, () => {
    t.same(cascade(deletion, { ...around, owned: chain }, isMadeBy), [], 'its controllers have made all of them');
    const lost = cascade(deletion, { ...around, owned: [stranger, ...upwards] }, isMadeBy);
    t.same(lost, [stranger], 'what somebody has hung on the last of them is found');
  });
});

t.test('the engine counts an object that repeats an owner once', async (t) => {
  const target = { apiVersion: 'v1', kind: 'ConfigMap', name: 'gone', namespace: 'there' };
  const deletion = { resource: configMaps, target, object: { metadata: { uid: 'gone' } } };
  const often = dependentOf(configMaps, {
    metadata: { name: 'often', namespace: 'there', uid: 'often', ownerReferences: [{ uid: 'gone' }, { uid: 'gone' }] },
  });
  const around = { owned: [often], endpoints: [], bySign: [] };
  t.same(
    cascade(deletion, around, () => false),
    [often],
  );
});

t.test('the engine reads owners in small groups, so other Transactions get their turn', async (t) => {
  let [now, most] = [0, 0];
  const busy = async (): Promise<object> => {
    most = Math.max(most, ++now);
    await nextLoopTurn();
    now -= 1;
    return { kind: 'ok', resource: configMaps, object: { metadata: { uid: 'it' } } };
  };
  const reader = { resource: busy, getMetadata: busy } as unknown as Lister['reader'];
  const owners = indexes.map((index) => ({ apiVersion: `group-${index}/v1`, kind: 'ConfigMap', name: 'it', uid: 'it' }));
  t.same(await findOwners(reader, { kind: 'engine' }, owners, 'there'), { gone: [], leaving: [], hidden: [], unserved: [] });
  t.ok(most <= 16, `${most} at once`);
});

t.test('claims among them', async (t) => {
  const none = async (): Promise<never> => {
    throw new Error('no claim of a Pod is read');
  };
  const lister = { reader: { get: none } } as unknown as Lister;
  const pods = { ...configMaps, plural: 'pods', kind: 'Pod' };
  const all = indexes.flatMap((index) => [made(index, -1, pods), made(many + index, index, claims)]);
  const target = { apiVersion: 'v1', kind: 'ConfigMap', name: 'made--1', namespace: 'there' };
  const context = { lister, entry: { resource: configMaps, target } } as unknown as HazardContext;
  await inTime(t, async () => t.match(await readVolumes(context, {}, all), { claims: [], volumes: [] }));
});
