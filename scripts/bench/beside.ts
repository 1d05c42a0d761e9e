// Measures a small Transaction of one tenant beside the load of another tenant. The API server and Metacontroller share the cores with the
// load. So small Transactions through the engine alternate with small Transactions through the hook that makes bare requests, beside one
// load. The ratio of both medians counts.
import { setTimeout as sleep } from 'node:timers/promises';
import { at, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { must, waitFor } from '../../test/support/client.ts';
import { hookToken } from '../../test/support/hook-token.ts';
import { startLoop } from '../../test/support/metacontroller/loop.ts';
import { ptxPath } from '../../test/support/package-paths.ts';
import { conditionIn, statusOf } from '../../test/support/package-world.ts';
import { packageOf, packageYaml, push } from '../../test/support/registry/builder.ts';
import { startRegistry } from '../../test/support/registry/process.ts';
import type { Line } from './figures.ts';
import { crdBytes, definitions } from './large-crds.ts';
import { inParallel, measure } from './measure.ts';
import { percentile, ratio, rounded } from './ratios.ts';
import type { BesideRow, HookKind, Row } from './rows.ts';
import { account, createTenant, loopLabel, type World } from './world.ts';

/** Each load has a namespace of its own, which is deleted with all its objects. */
const tenantOf = (row: string): string => `bench-${row}`;

const pathsOf = (namespace: string) => ({
  maps: `/api/v1/namespaces/${namespace}/configmaps`,
  transactions: `/apis/tx.janus.io/v1alpha1/namespaces/${namespace}/transactions`,
});

const atOnce = 16;

const small: Row = { name: '', changes: 3, transactions: 1, concurrency: 1, hook: 'janus', flags: 'tuned' };
const pairs = 20;
/** ms between two reads of a Transaction of the load. */
const lookEvery = 250;

interface Tenant extends ReturnType<typeof pathsOf> {
  readonly world: World;
  readonly hook: HookKind;
  readonly label: string;
  /** Aborted when the small Transactions are measured. */
  readonly over: AbortSignal;
}

/** Begins a load that lasts until the measurement is over. When the load reaches the hook, it resolves to the end of the load. */
type Load = (tenant: Tenant) => Promise<() => Promise<unknown>>;

/** Measures the row on the hook that it names. Its load runs through that hook, too. */
export async function measureBeside(world: World, { name, hook }: Row, beside: BesideRow): Promise<readonly Line[]> {
  await createTenant(world.client, tenantOf(name));
  const { label } = await world.engine(hook, 'tuned');
  const over = new AbortController();
  const ended = await loads[beside]({ world, hook, label, over: over.signal, ...pathsOf(tenantOf(name)) });
  try {
    return [await lineBeside(world, name, hook)];
  } finally {
    over.abort();
    await ended();
    await clear(world, tenantOf(name));
  }
}

/** The medians of small Transactions through the hook and through that of bare requests, in turn. */
async function lineBeside(world: World, name: string, hook: HookKind): Promise<Line> {
  const [own, bare]: [number[], number[]] = [[], []];
  for (let turn = 0; turn < pairs; turn += 1) {
    bare.push(await timeOf(world, 'requests', `requests-${name}-${turn}`));
    own.push(await timeOf(world, hook, `${hook}-${name}-${turn}`));
  }
  const [ownMs, bareMs] = [percentile(own, 0.5), percentile(bare, 0.5)];
  return {
    row: name,
    items: small.changes,
    transactions: pairs,
    p50Ms: rounded(ownMs),
    p99Ms: rounded(percentile(own, 0.99)),
    limitMs: rounded(bareMs),
    ratioToLimit: rounded(ownMs / bareMs, 2),
  };
}

async function timeOf(world: World, hook: HookKind, name: string): Promise<number> {
  const [figures] = await measure(world, { ...small, hook, name });
  return figures?.times[0] ?? Number.NaN;
}

const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index);

async function createMap({ world, maps }: Tenant, name: string, data: JsonObject): Promise<void> {
  must(await world.client.create(maps, { metadata: { name }, data }));
}

interface Begun {
  readonly name: string;
  readonly changes: readonly JsonObject[];
}

/** Returns the uid of the Transaction. */
async function begin({ world, label, transactions }: Tenant, { name, changes }: Begun): Promise<string> {
  const metadata = { name, labels: { [loopLabel]: label } };
  const spec = { serviceAccountName: account, timeout: '1h', lockWait: '1h', changes };
  const transaction = { apiVersion: 'tx.janus.io/v1alpha1', kind: 'Transaction', metadata, spec };
  return textAt(must(await world.client.create(transactions, transaction)), 'metadata', 'uid') ?? '';
}

/** Waits until the Transaction has ended, or the measurement is over. */
async function end({ world, over, transactions }: Tenant, name: string): Promise<JsonObject> {
  for (;;) {
    const status = (at(must(await world.client.get(`${transactions}/${name}`)), 'status') ?? {}) as JsonObject;
    if (over.aborted || textAt(status, 'completionTime') !== undefined) return status;
    await sleep(lookEvery);
  }
}

/** Repeats it until the measurement is over. Resolves after the first start. */
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

/** The number of Transactions with gates that stay open. */
function gates(count: number, ready: JsonObject, data: JsonObject): Load {
  return async (tenant) => {
    await inParallel(numbers(count), atOnce, async (which) => {
      await createMap(tenant, `gate-${which}`, { ...data, which: `${which}` });
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
  for (const name of names) await createMap(tenant, name, keys);
  return repeated(async (own, turn) => {
    await begin(own, { name: `keys-${turn}`, changes: names.map((name) => patch(name, { version: '2' })) });
    await end(own, `keys-${turn}`);
  })(tenant);
};

/** Fifty Transactions of 0.8 MB are in progress all the time: when one ends, another one begins. */
const large: Load = async (tenant) => {
  const { world, over } = tenant;
  const content = (name: string) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name },
    data: { x: 'x'.repeat(800_000) },
  });
  const running = inParallel(numbers(50), 50, async (which) => {
    for (let turn = 0; !over.aborted; turn += 1) {
      const name = `large-${which}-${turn}`;
      const uid = await begin(tenant, { name, changes: [{ type: 'Apply', content: content(name) }] });
      await world.followed.when(uid, 'Finished');
    }
  });
  await sleep(lookEvery);
  return () => running;
};

/** Forty Deletes at a time. Each one lists all kinds that may depend on its object. */
const fortyDeletes: Load = repeated(async (own, turn) => {
  const names = numbers(40).map((index) => `delete-${turn}-${index}`);
  await inParallel(names, atOnce, async (name) => createMap(own, name, {}));
  const changeOf = (name: string) => ({ type: 'Delete', target: { apiVersion: 'v1', kind: 'ConfigMap', name } });
  await inParallel(names, names.length, async (name) => {
    await begin(own, { name, changes: [changeOf(name)] });
    const status = await end(own, name);
    if (!own.over.aborted && textAt(status, 'phase') !== 'Committed')
      throw new Error(`expected Delete ${name} to commit: ${JSON.stringify(status)}`);
  });
});

const fiveHundred = numbers(500).map((index) => `five-hundred-${index}`);

/** A Transaction of 500 changes, and then, if `isUndone`, its undo. Only one of them loads the hook at a time. */
function many(isUndone: boolean): Load {
  return async (tenant) => {
    await inParallel(fiveHundred, atOnce, async (name) => createMap(tenant, name, { version: '1' }));
    return repeated(async (own, turn) => {
      const name = `many-${turn}`;
      await begin(own, { name, changes: fiveHundred.map((one) => patch(one, { version: `${turn}` })) });
      await end(own, name);
      if (!isUndone || own.over.aborted) return;
      must(
        await own.world.client.patch(`${own.transactions}/${name}`, {
          metadata: { annotations: { 'tx.janus.io/request-rollback': '1' } },
        }),
      );
      while (!own.over.aborted && textAt(await read(own, name), 'status', 'phase') !== 'RolledBack') await sleep(lookEvery);
    })(tenant);
  };
}

async function read({ world, transactions }: Tenant, name: string): Promise<JsonObject> {
  return must(await world.client.get(`${transactions}/${name}`)) as JsonObject;
}

const bytesOfPackage = 60 * 2 ** 20;

/** One package transaction after another reads a package of 60 MiB as a whole. Then it is refused, because a dependency does not exist. */
const largePackage: Load = async (tenant) => {
  const { client, undo, kubeconfig, engine } = tenant.world;
  const own = { teardown: (handler: () => unknown) => undo.add(async () => void (await handler())) };
  const { origin, host } = await startRegistry(own);
  const objects = definitions('large.org', Math.ceil(bytesOfPackage / crdBytes));
  const dependsOn = [{ kind: 'Provider' as const, source: `${host}/acme/absent`, version: '>=v1.0.0' }];
  const image = await packageOf(packageYaml({ kind: 'Provider', name: 'large', dependsOn }, objects));
  await push({ origin, repository: 'acme/large', tag: 'v1.0.0' }, image);
  const { address } = await engine(tenant.hook, 'tuned');
  const parentResource = { apiVersion: 'pkg.crossplane.io/v1alpha1', resource: 'transactions' };
  const calls = { kubeconfig, hookUrl: `${address}/packages`, token: hookToken, matchLabels: {}, customize: true };
  const loop = await startLoop({ ...calls, name: 'janus-packages', parentResource });
  undo.add(() => loop.stop());
  const ended = await repeated(async ({ over }, turn) => {
    const name = `large-${tenant.hook}-${turn}`;
    const package_ = { apiVersion: 'pkg.crossplane.io/v1', kind: 'Provider', metadata: { name: 'large' } };
    const install = { package: { ...package_, spec: { package: `${host}/acme/large:v1.0.0` } } };
    const metadata = { name };
    const spec = { change: 'Install', install, retryLimit: 1 };
    must(await client.create(ptxPath(), { apiVersion: 'pkg.crossplane.io/v1alpha1', kind: 'Transaction', metadata, spec }));
    const isFinished = async (): Promise<boolean> =>
      conditionIn(statusOf(must(await client.get(ptxPath(name)))), 'Finished')?.status === 'True';
    while (!over.aborted && !(await isFinished())) await sleep(lookEvery);
  })(tenant);
  return async () => {
    await ended();
    await loop.stop(); // the next row may serve package transactions with another hook
  };
};

const loads: Readonly<Record<BesideRow, Load>> = {
  'beside-nothing': async () => async () => undefined,
  'beside-80-expressions': gates(80, { expression: slow }, values),
  'beside-40-of-45000-keys': manyKeys,
  'beside-1000-gates': gates(1_000, { field: { path: '.data.ready' } }, {}),
  'beside-50-large': large,
  'beside-500-changes': many(false),
  'beside-500-and-undo': many(true),
  'beside-40-deletes': fortyDeletes,
  'beside-60-mib-package': largePackage,
};

/** The load of one row must not affect the next row. */
async function clear({ client }: World, tenant: string): Promise<void> {
  const namespace = `/api/v1/namespaces/${tenant}`;
  must(await client.delete(namespace));
  const isGone = async (): Promise<boolean> => (await client.get(namespace)).code === 404;
  await waitFor(isGone, `namespace ${tenant} to be deleted`, { timeoutMs: 600_000 });
}

/** The comparisons of the lines, in words. */
export function besideOthers(lines: readonly Line[]): readonly string[] {
  return lines
    .filter(({ row }) => /^(against-)?beside-/.test(`${row}`))
    .flatMap(({ row, p50Ms, limitMs }) =>
      ratio(p50Ms, limitMs, `time of a small Transaction, row ${row}, to its bare requests beside that load`),
    );
}
