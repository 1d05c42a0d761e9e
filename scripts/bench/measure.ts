// Measures one row: first the limit, then the Transactions. Reads the API server's counters before and after.
import { type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { type Client, must, waitFor } from '../../test/support/client.ts';
import { asYaml, contentFrom, holderOf, type Manifest } from '../../test/support/stored-manifests.ts';
import type { Figures } from './figures.ts';
import { between, countRequests, sumsOf } from './requests.ts';
import type { Row } from './rows.ts';
import { account, loopLabel, namespace, type World } from './world.ts';

export const configMaps = `/api/v1/namespaces/${namespace}/configmaps`;
export const transactions = `/apis/tx.janus.io/v1alpha1/namespaces/${namespace}/transactions`;
const atOnce = 16;

/** The minimum of calls for a Transaction, or for an undo. The log of the hook shows them a moment after the end. */
const fewestCalls = 3;

export async function measure(world: World, row: Row): Promise<readonly Figures[]> {
  const { meter, loop, label } = await world.engine(row.hook, row.flags);
  const names = await createTargets(world.client, row);
  const limit = (await applyInTurn(world.client, row)) / row.transactions;
  const run = { world, row, label, names };
  const watched = async (work: () => Promise<Timed>, own: string): Promise<Figures> => {
    meter.resetPeak();
    const [steps, cpu, before] = [meter.steps(), meter.cpu(), await countRequests(world.client)];
    const { times, elapsed } = await work();
    // An older engine may log other messages than the counted ones.
    const isLogging = row.hook === 'janus' || (row.hook === 'against' && steps > 0);
    if (isLogging) await waitFor(() => meter.steps() >= steps + fewestCalls * row.transactions, 'the log of the hook');
    const after = await countRequests(world.client);
    const requests = between(before, after, new Map([[own, row.transactions]]));
    const used = cpu === undefined ? undefined : (meter.cpu() ?? 0) - cpu;
    const calls = meter.steps() - steps;
    const memory = meter.peakMemory();
    return { row, loop, times, elapsed, limit, requests, sums: sumsOf(requests), calls, cpu: used, memory };
  };
  const committed = await watched(() => commitAll(run), 'POST transactions');
  if (row.undo !== true) return [committed];
  const undone = await watched(() => undoAll(run), 'PATCH transactions');
  return [committed, { ...undone, row: { ...row, name: undoOf(row) }, undoOf: committed }];
}

function undoOf({ name }: Row): string {
  return name.startsWith('against-') ? `against-rollback-${name.slice('against-'.length)}` : `rollback-${name}`;
}

/** Creates ConfigMaps for each Transaction, as many ConfigMaps for the limit, and the sources. */
async function createTargets(client: Client, row: Row): Promise<readonly (readonly string[])[]> {
  const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index);
  const names = numbers(row.transactions).map((which) => numbers(row.changes).map((index) => `${row.name}-${which}-${index}`));
  const all = names.flat().flatMap((name) => [name, `limit-${name}`]);
  await inParallel(all, atOnce, async (name) => {
    must(await client.create(configMaps, { metadata: { name }, data: { version: '1', other: 'x'.repeat(row.held ?? 1) } }));
  });
  if (row.sources === true)
    await inParallel(
      names.flat(),
      atOnce,
      async (name) => void must(await client.create(configMaps, holderOf(sourceOf(row, name)))),
    );
  return names;
}

function sourceOf(row: Row, name: string): Manifest {
  return { kind: 'ConfigMap', name: `source-${name}`, key: 'x.yaml.gz', bytes: asYaml({ data: dataOf(row) }), gzip: true };
}

/** ms for as many plain apply patches as the row has changes, one after the other. */
async function applyInTurn(client: Client, row: Row): Promise<number> {
  const begin = performance.now();
  for (let which = 0; which < row.transactions; which += 1)
    for (let index = 0; index < row.changes; index += 1) {
      const name = `limit-${row.name}-${which}-${index}`;
      const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: dataOf(row) };
      must(await client.apply(`${configMaps}/${name}`, object, { fieldManager: 'limit' }));
    }
  return performance.now() - begin;
}

interface Run {
  readonly world: World;
  readonly row: Row;
  readonly label: string;
  readonly names: readonly (readonly string[])[];
}

interface Timed {
  /** Milliseconds of each Transaction. */
  readonly times: readonly number[];
  /** From the start of the first to the end of the last. */
  readonly elapsed: number;
}

async function commitAll({ world, row, label, names }: Run): Promise<Timed> {
  const times: number[] = [];
  const begin = performance.now();
  let end = begin;
  await inParallel([...names.keys()], row.concurrency, async (which) => {
    const sent = performance.now();
    const created = must(await world.client.create(transactions, transactionOf(row, label, which, names[which] ?? [])));
    const uid = textAt(created, 'metadata', 'uid') ?? '';
    const committed = await world.followed.when(uid, 'Committed');
    times.push(committed - sent);
    end = Math.max(end, committed);
    await world.followed.when(uid, 'Finished');
  });
  return { times, elapsed: end - begin };
}

async function undoAll({ world, row, names }: Run): Promise<Timed> {
  const times: number[] = [];
  const begin = performance.now();
  for (const which of names.keys()) {
    const path = `${transactions}/${nameOf(row, which)}`;
    const sent = performance.now();
    const annotations = { 'tx.janus.io/request-rollback': 'bench' };
    const uid = textAt(must(await world.client.patch(path, { metadata: { annotations } })), 'metadata', 'uid') ?? '';
    times.push((await world.followed.when(uid, 'RolledBack')) - sent);
  }
  return { times, elapsed: performance.now() - begin };
}

function dataOf({ bytes = 1 }: Row): JsonObject {
  return { version: '2'.repeat(bytes) };
}

function nameOf(row: Row, which: number): string {
  return `${row.name}-${which}`;
}

function transactionOf(row: Row, label: string, which: number, names: readonly string[]): JsonObject {
  const changes = names.map((name) => changeOf(row, name));
  return {
    apiVersion: 'tx.janus.io/v1alpha1',
    kind: 'Transaction',
    metadata: { name: nameOf(row, which), labels: { [loopLabel]: label }, annotations: { ...row.deletes } },
    spec: { serviceAccountName: account, lockWait: '10m', changes },
  };
}

function changeOf(row: Row, name: string): JsonObject {
  const target = { apiVersion: 'v1', kind: 'ConfigMap', name };
  if (row.deletes !== undefined) return { target, type: 'Delete' };
  const wave = row.wave === true ? { wave: 0 } : {};
  return { target, type: 'Patch', ...wave, ...contentOf(row, name), ...(row.held === undefined ? {} : { gate }) };
}

const gate = { at: 'AtEnd', ready: { field: { path: '.data.version', value: '2' } } };

function contentOf(row: Row, name: string): JsonObject {
  return row.sources === true ? { contentFrom: contentFrom(sourceOf(row, name)) } : { content: { data: dataOf(row) } };
}

export async function inParallel<Item>(items: readonly Item[], most: number, work: (item: Item) => Promise<void>): Promise<void> {
  const left = items.values();
  const worker = async (): Promise<void> => {
    for (const item of left) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, worker));
}
