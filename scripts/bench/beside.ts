// A small Transaction of one tenant beside the load that another tenant makes. The API server and Metacontroller share the cores with the
// load. So each small Transaction takes its turn with one through the hook that makes bare requests, beside the same load, and the ratio of
// both medians counts.
import { setTimeout as sleep } from 'node:timers/promises';
import { at, type JsonObject, textAt } from '../../hooks/model/json.ts';
import { must } from '../../test/support/client.ts';
import type { Line } from './figures.ts';
import { inParallel, measure } from './measure.ts';
import { percentile, ratio, rounded } from './ratios.ts';
import type { HookKind, Row } from './rows.ts';
import { account, createTenant, loopLabel, type World } from './world.ts';

const tenant = 'bench-tenant';
const maps = `/api/v1/namespaces/${tenant}/configmaps`;
const transactions = `/apis/tx.janus.io/v1alpha1/namespaces/${tenant}/transactions`;
const atOnce = 16;

const small: Row = { name: '', changes: 3, transactions: 1, concurrency: 1, hook: 'janus', flags: 'tuned' };
const pairs = 20;
/** ms between two looks at whether a Transaction of the load has ended. */
const lookEvery = 250;

interface Tenant {
  readonly world: World;
  readonly label: string;
  /** Aborted once the small Transactions are measured. */
  readonly over: AbortSignal;
}

/** Begins a load that lasts until the measurement is over. Resolves, once the load weighs on the hook, to the end of the load. */
type Load = (tenant: Tenant) => Promise<() => Promise<unknown>>;

export async function measureBeside(world: World): Promise<readonly Line[]> {
  await createTenant(world.client, tenant);
  const { label } = await world.engine('janus', 'tuned');
  const lines: Line[] = [];
  for (const [name, load] of Object.entries(loads)) {
    const over = new AbortController();
    const ended = await load({ world, label, over: over.signal });
    try {
      lines.push(await lineBeside(world, name));
    } finally {
      over.abort();
      await ended();
      await clear(world);
    }
  }
  return lines;
}

/** The medians of 20 small Transactions through each hook, in turn. */
async function lineBeside(world: World, name: string): Promise<Line> {
  const times = { janus: [] as number[], requests: [] as number[] };
  for (let turn = 0; turn < pairs; turn += 1)
    for (const hook of ['requests', 'janus'] as const) times[hook].push(await timeOf(world, hook, `${hook}-${name}-${turn}`));
  const [own, bare] = [percentile(times.janus, 0.5), percentile(times.requests, 0.5)];
  return {
    row: `tenant-${name}`,
    items: small.changes,
    transactions: pairs,
    p50Ms: rounded(own),
    p99Ms: rounded(percentile(times.janus, 0.99)),
    limitMs: rounded(bare),
    ratioToLimit: rounded(own / bare, 2),
  };
}

async function timeOf(world: World, hook: HookKind, name: string): Promise<number> {
  const [figures] = await measure(world, { ...small, hook, name });
  return figures?.times[0] ?? Number.NaN;
}

const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index);

async function createMap({ client }: World, name: string, data: JsonObject): Promise<void> {
  must(await client.create(maps, { metadata: { name }, data }));
}

interface Begun {
  readonly name: string;
  readonly changes: readonly JsonObject[];
}

async function begin({ world, label }: Tenant, { name, changes }: Begun): Promise<void> {
  const metadata = { name, labels: { [loopLabel]: label } };
  const spec = { serviceAccountName: account, timeout: '1h', lockWait: '1h', changes };
  must(await world.client.create(transactions, { apiVersion: 'tx.janus.io/v1alpha1', kind: 'Transaction', metadata, spec }));
}

/** Waits until the Transaction has ended, or the measurement is over. */
async function end({ world, over }: Tenant, name: string): Promise<JsonObject> {
  for (;;) {
    const status = (at(must(await world.client.get(`${transactions}/${name}`)), 'status') ?? {}) as JsonObject;
    if (over.aborted || textAt(status, 'completionTime') !== undefined) return status;
    await sleep(lookEvery);
  }
}

/** Does it again and again until the measurement is over. Resolves after the first beginning. */
function repeated(again: (tenant: Tenant, turn: number) => Promise<unknown>): Load {
  return async (tenant) => {
    const running = (async () => {
      for (let turn = 0; !tenant.over.aborted; turn += 1) await again(tenant, turn);
    })();
    await sleep(lookEvery);
    return () => running;
  };
}

const patch = (name: string, data: JsonObject, more: JsonObject = {}): JsonObject => ({
  ...{ target: { apiVersion: 'v1', kind: 'ConfigMap', name }, type: 'Patch', content: { data } },
  ...more,
});

/** Gates that stay open: so many Transactions. */
function gates(count: number, ready: JsonObject, data: JsonObject): Load {
  return async (tenant) => {
    await inParallel(numbers(count), atOnce, async (which) => {
      await createMap(tenant.world, `gate-${which}`, { ...data, which: `${which}` });
      await begin(tenant, {
        name: `gate-${which}`,
        changes: [patch(`gate-${which}`, { version: '2' }, { gate: { timeout: '1h', ready } })],
      });
    });
    return async () => undefined;
  };
}

/** About 160 ms for each evaluation on a machine of 2026: below the limit. */
const values = Object.fromEntries(numbers(400).map((index) => [`k${index}`, 'x']));
const slow = 'object.data.all(a, object.data.all(b, a + b != "")) && has(object.data.ready)';

const keys = Object.fromEntries(numbers(45_000).map((index) => [`k${index}`, '']));

const manyKeys: Load = async (tenant) => {
  const names = numbers(40).map((index) => `keys-${index}`);
  for (const name of names) await createMap(tenant.world, name, keys);
  return repeated(async (own, turn) => {
    await begin(own, { name: `keys-${turn}`, changes: names.map((name) => patch(name, { version: '2' })) });
    await end(own, `keys-${turn}`);
  })(tenant);
};

const large = repeated(async (tenant, turn) => {
  const names = numbers(50).map((index) => `large-${turn}-${index}`);
  await inParallel(names, atOnce, async (name) => {
    const content = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { x: 'x'.repeat(800_000) } };
    await begin(tenant, { name, changes: [{ type: 'Apply', content }] });
  });
  for (const name of names) await end(tenant, name);
});

const fiveHundred = numbers(500).map((index) => `five-hundred-${index}`);

/** A Transaction of 500 changes, and then, if `isUndone`, its undo; only one of both weighs on the hook at a time. */
function many(isUndone: boolean): Load {
  return async (tenant) => {
    await inParallel(fiveHundred, atOnce, async (name) => createMap(tenant.world, name, { version: '1' }));
    return repeated(async (own, turn) => {
      const name = `many-${turn}`;
      await begin(own, { name, changes: fiveHundred.map((one) => patch(one, { version: `${turn}` })) });
      await end(own, name);
      if (!isUndone || own.over.aborted) return;
      must(
        await own.world.client.patch(`${transactions}/${name}`, {
          metadata: { annotations: { 'tx.janus.io/request-rollback': '1' } },
        }),
      );
      while (!own.over.aborted && textAt(await read(own, name), 'status', 'phase') !== 'RolledBack') await sleep(lookEvery);
    })(tenant);
  };
}

async function read({ world }: Tenant, name: string): Promise<JsonObject> {
  return must(await world.client.get(`${transactions}/${name}`)) as JsonObject;
}

const loads: Readonly<Record<string, Load>> = {
  nothing: async () => async () => undefined,
  '80-expressions': gates(80, { expression: slow }, values),
  '40-of-45000-keys': manyKeys,
  '1000-gates': gates(1_000, { field: { path: '.data.ready' } }, {}),
  '50-of-800-kB': large,
  '500-changes': many(false),
  '500-and-undo': many(true),
};

/** Deletes the Transactions of the tenant, and what they changed. */
async function clear({ client }: World): Promise<void> {
  must(await client.delete(transactions));
  while ((at(must(await client.get(transactions)), 'items') as readonly unknown[]).length > 0) await sleep(lookEvery);
  must(await client.delete(maps));
}

/** The comparisons of the lines, in words. */
export function besideOthers(lines: readonly Line[]): readonly string[] {
  return lines
    .filter(({ row }) => `${row}`.startsWith('tenant-'))
    .flatMap(({ row, p50Ms, limitMs }) =>
      ratio(p50Ms, limitMs, `time of a small Transaction, row ${row}, to its bare requests beside the same load`),
    );
}
