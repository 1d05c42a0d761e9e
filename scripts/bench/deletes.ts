// Measures the undo of 50 Deletes: alone, beside 1000 finished Transactions of another tenant, and beside 50 MB of other Transactions. The
// undo must find which of them changed its objects. `-first`: the hook knows nothing yet of the others, as just after its start.
import { type JsonObject, withKey } from '../../hooks/objects/json.ts';
import { must, waitFor } from '../../test/support/client.ts';
import { type Line, lineOf } from './figures.ts';
import { inParallel, measure } from './measure.ts';
import { ratio } from './ratios.ts';
import type { Row } from './rows.ts';
import { createTenant, type World } from './world.ts';

const tenant = 'bench-others';
const others = `/apis/tx.janus.io/v1alpha1/namespaces/${tenant}/transactions`;
const atOnce = 8;

const fifty: Row = {
  ...{ name: 'fifty-deletes', changes: 50, transactions: 5, concurrency: 1, hook: 'janus', flags: 'tuned' },
  ...{ undo: true, deletes: { 'tx.janus.io/allow-irreversible': 'true' } },
};

/** Of 1.25 MB each. */
const large = { count: 40, bytes: 1_250_000 };

export async function measureDeletes(world: World): Promise<readonly Line[]> {
  await linesOf(world, 'fifty-deletes-warm-up', 1);
  const alone = await linesOf(world, fifty.name);
  const beside = [
    ...(await besideOthers(world, 'beside-1000', 1000, 1)),
    ...(await besideOthers(world, 'beside-50-mb', large.count, large.bytes)),
  ];
  // The API server has become older meanwhile.
  return [...alone, ...beside, ...(await linesOf(world, `${fifty.name}-again`))];
}

async function besideOthers(world: World, name: string, count: number, bytes: number): Promise<readonly Line[]> {
  await fill(world, count, bytes);
  const first = await linesOf(world, `${fifty.name}-${name}-first`, 1);
  const later = await linesOf(world, `${fifty.name}-${name}`);
  const namespace = `/api/v1/namespaces/${tenant}`;
  must(await world.client.delete(namespace));
  await waitFor(async () => (await world.client.get(namespace)).code === 404, 'the others to be deleted', { timeoutMs: 600_000 });
  return [...first, ...later];
}

/** Only the lines of undos. */
async function linesOf(world: World, name: string, transactions = fifty.transactions): Promise<readonly Line[]> {
  const figures = await measure(world, { ...fifty, name, transactions });
  return figures.filter(({ undoOf }) => undoOf !== undefined).map(lineOf);
}

/** Creates finished Transactions that no loop calls the hook for. */
async function fill({ client }: World, count: number, bytes: number): Promise<void> {
  await createTenant(client, tenant);
  const names = Array.from({ length: count }, (_, index) => `other-${index}`);
  const spec = { serviceAccountName: 'deployer' };
  await inParallel(names, atOnce, async (name) => {
    const target = { apiVersion: 'v1', kind: 'ConfigMap', name };
    const changes = [{ target, type: 'Patch', content: { data: { x: 'x'.repeat(bytes) } } }];
    const apiVersion = 'tx.janus.io/v1alpha1';
    const object: JsonObject = { apiVersion, kind: 'Transaction', metadata: { name }, spec: { ...spec, changes } };
    const made = must(await client.create(others, object));
    must(await client.update(`${others}/${name}/status`, withKey(made, 'status', statusOf(name))));
  });
}

const now = new Date(0).toISOString().replace('.000', '');

function statusOf(target: string): JsonObject {
  const item = { target: `ConfigMap ${tenant}/${target}`, prepared: true, announced: true, committed: true };
  return { phase: 'Committed', version: 9, startTime: now, completionTime: now, items: [item] };
}

/** The times beside others to the time alone, in words. */
export function deletesBeside(lines: readonly Line[]): readonly string[] {
  const alone = lines.find(({ row }) => row === `rollback-${fifty.name}`);
  return lines
    .filter(({ row }) => `${row}`.startsWith(`rollback-${fifty.name}-`))
    .flatMap(({ row, p50Ms }) => ratio(p50Ms, alone?.p50Ms, `time of row ${row}, to the time alone`));
}
