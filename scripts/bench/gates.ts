// Measures the cost of open gates: the requests of one gate over five minutes, how late the engine sees that it is ready, and how a
// hundred gates slow down another Transaction.
import { setTimeout as sleep } from 'node:timers/promises';
import { at, isList, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { must, waitFor } from '../../test/support/client.ts';
import { type Line, lineOf } from './figures.ts';
import { configMaps, inParallel, measure, transactions } from './measure.ts';
import { between, countRequests } from './requests.ts';
import type { Row } from './rows.ts';
import { account, loopLabel, type World } from './world.ts';

const row: Row = { name: '', changes: 10, transactions: 20, concurrency: 1, hook: 'janus', flags: 'tuned' };
const many = 100;
const atOnce = 16;

/** The longest wait that is measured, in ms. */
const fiveMinutes = 300_000;
/** After this time, in ms, polls are as rare as in a wait of minutes. An earlier measurement would see a hundred new gates. */
const settling = 60_000;

export async function measureGates(world: World): Promise<readonly Line[]> {
  const { label } = await world.engine('janus', 'tuned');
  const lines = await linesOf(world, { ...row, name: 'gates-warm-up' });
  const open = await waitInVain(world, label);
  lines.push(open, ...(await linesOf(world, { ...row, name: 'gates-none' })));
  await inParallel([...Array(many).keys()], atOnce, async (which) => void (await begin(world, label, `open-${which}`)));
  await sleep(settling);
  return [...lines, ...(await linesOf(world, { ...row, name: `gates-${many}` }))];
}

async function linesOf(world: World, which: Row): Promise<Line[]> {
  return (await measure(world, which)).map(lineOf);
}

/** A gate that stays open for five minutes, and passes then. */
async function waitInVain(world: World, label: string): Promise<Line> {
  const uid = await begin(world, label, 'awaited');
  const before = await countRequests(world.client);
  await sleep(fiveMinutes);
  const requests = between(before, await countRequests(world.client), new Map());
  must(await world.client.patch(`${configMaps}/awaited`, { data: { ready: 'yes' } }));
  const ready = performance.now();
  const seenMs = (await world.followed.when(uid, 'Committed')) - ready;
  const sum = [...requests].reduce((all, [key, count]) => (/ (leases|configmaps|transactions)/.test(key) ? all + count : all), 0);
  return {
    row: 'gate-5m',
    transactions: 1,
    items: 1,
    p50Ms: Math.round(seenMs),
    gateRequests: sum,
    requests: Object.fromEntries(requests),
  };
}

/** The uid of a Transaction whose gate is open. */
async function begin({ client }: World, label: string, name: string): Promise<string> {
  must(await client.create(configMaps, { metadata: { name }, data: { version: '1' } }));
  const changes = [
    {
      target: { apiVersion: 'v1', kind: 'ConfigMap', name },
      type: 'Patch',
      content: { data: { version: '2' } },
      gate: { ready: { field: { path: '.data.ready' } }, timeout: '1h' },
    },
  ];
  const metadata = { name, labels: { [loopLabel]: label } };
  const spec = { serviceAccountName: account, timeout: '1h', changes };
  const made = must(
    await client.create(transactions, { apiVersion: 'tx.janus.io/v1alpha1', kind: 'Transaction', metadata, spec }),
  );
  const isOpen = async (): Promise<boolean> => hasFound(must(await client.get(`${transactions}/${name}`)));
  await waitFor(isOpen, `the gate of ${name} to be open`, { timeoutMs: 120_000 });
  return textAt(made, 'metadata', 'uid') ?? '';
}

function hasFound(transaction: JsonObject): boolean {
  const items = at(transaction, 'status', 'items');
  return isList(items) && textAt(items[0], 'gate', 'found') !== undefined;
}
