// Whether something of a generated history (histories.ts) is under way. If nothing is, a call of the hook writes nothing, and answers the
// status that is stored.
import { at, equalJson, type JsonObject, objectAt, objectsAt, parseJson, textAt } from '../../hooks/objects/json.ts';
import { must, waitFor } from '../support/client.ts';
import { post } from '../support/hook-process.ts';
import { definitionPath, kinds, lockPath, packagePath, ptxPath } from '../support/package-paths.ts';
import { statusOf } from '../support/package-world.ts';
import { type Name, names } from './histories.ts';
import { isTerminating, providerPath, type Running, transactionsOf } from './history-run.ts';

const nameOf = (object: JsonObject): string => textAt(object, 'metadata', 'name') ?? '';

/** The next try after a refusal comes after five minutes at most. */
const patience = { timeoutMs: 900_000 };

export async function untilSettled(run: Running): Promise<void> {
  const isSettled = async (): Promise<boolean> => {
    const running = await underWay(run);
    const busy = running.length > 0 ? running : await disturbedByCalls(run);
    if (busy.length > 0) throw new Error(busy.join('; '));
    return true;
  };
  await waitFor(isSettled, 'nothing to be under way, and calls to write nothing', patience);
}

export async function isQuiet(run: Running): Promise<boolean> {
  return (await underWay(run)).length === 0;
}

/** What goes on, in words. */
export async function underWay(run: Running): Promise<readonly string[]> {
  const transactions = (await run.world.client.list(ptxPath())).items;
  const packages = await Promise.all(names.map((name) => packageUnderWay(run, name)));
  const found = await Promise.all(transactions.map((one) => transactionUnderWay(run, one)));
  return [...found.flat(), ...packages.flat()];
}

/** Whether a package transaction that has ended has stages and contents, which go once no late request can need them. */
export const isSwept = (ptx: JsonObject): boolean => statusOf(ptx).sweepTime === undefined;

async function transactionUnderWay(run: Running, ptx: JsonObject): Promise<readonly string[]> {
  const { phase, outcome } = statusOf(ptx);
  const isOver = phase === 'Succeeded' || phase === 'Failed';
  const words = `${nameOf(ptx)} ${phase} ${JSON.stringify(outcome)}${isTerminating(ptx) ? ', being deleted' : ''}`;
  if (isTerminating(ptx)) return [words];
  if (isOver) return [];
  if (!isRefused(ptx)) return [words];
  if (await isStillRefused(run, ptx)) return [];
  // The next try may be five minutes away. docs/packages.md says how to try it at once.
  await run.world.client.delete(ptxPath(nameOf(ptx)), { propagationPolicy: 'Background' });
  run.deleted += 1;
  return [words];
}

const ofInstalls = ['VersionConflict', 'MissingDependency'];
const ofDeletes = ['RequiredByOthers', 'ResourcesInUse'];

/** It waits for its next try, which will be refused, too. */
function isRefused(ptx: JsonObject): boolean {
  const { phase, retryTime } = statusOf(ptx);
  const reason = textAt(ptx, 'status', 'outcome', 'reason') ?? '';
  return phase === 'Waiting' && retryTime !== undefined && [...ofInstalls, ...ofDeletes].includes(reason);
}

async function isStillRefused(run: Running, ptx: JsonObject): Promise<boolean> {
  if (at(ptx, 'spec', 'change') !== 'Delete') return true;
  const source = textAt(ptx, 'spec', 'delete', 'source') ?? '';
  if (textAt(ptx, 'status', 'outcome', 'reason') === 'ResourcesInUse') {
    const group = `${source.split('/').at(-1)}.org`;
    return [...run.instances.keys()].some((path) => path.startsWith(`/apis/${group}/`));
  }
  const entries = objectsAt((await run.world.client.get(lockPath)).body, 'packages');
  return entries.some((one) => objectsAt(one, 'dependencies').some((needed) => needed.package === source));
}

async function packageUnderWay(run: Running, name: Name): Promise<readonly string[]> {
  const { code, body: pkg } = await run.world.client.get(providerPath(run, name));
  if (code === 404) return [];
  const condition = objectsAt(pkg, 'status', 'conditions').find(({ type }) => type === 'Installed');
  const words = `${nameOf(pkg)} ${JSON.stringify(condition)}`;
  if (isTerminating(pkg)) {
    const removals = (await transactionsOf(run, pkg)).filter((one) => at(one, 'spec', 'change') === 'Delete');
    return removals.some(isRefused) ? [] : [`${words}, being deleted`];
  }
  const isReported = condition?.observedGeneration === at(pkg, 'metadata', 'generation') && condition?.status !== 'Unknown';
  return isReported ? [] : [words];
}

/** What calls about every Package and every package transaction have changed, in words. Each hook is called. */
async function disturbedByCalls(run: Running): Promise<readonly string[]> {
  const [before, count] = [await versions(run), run.noted.writes.length];
  const found: string[] = [];
  for (const _ of ['one hook', 'the other']) {
    for (const name of names) found.push(...(await answeredToPackage(run, name)));
    for (const ptx of (await run.world.client.list(ptxPath())).items.filter(isSwept)) {
      const call = { controller: {}, parent: ptx, children: {}, related: {}, finalizing: false };
      found.push(...unstored(ptx, await answerOf(run, '/packages/sync', call)));
    }
  }
  const after = await versions(run);
  const changed = [...new Set([...before, ...after])].filter((one) => !(before.includes(one) && after.includes(one)));
  return [...found, ...changed.map((one) => `${one} has changed`), ...run.noted.writes.slice(count)];
}

async function answeredToPackage(run: Running, name: Name): Promise<readonly string[]> {
  const { code, body: pkg } = await run.world.client.get(providerPath(run, name));
  if (code === 404) return [];
  const isFinalizing = isTerminating(pkg);
  const call = { controller: {}, object: pkg, attachments: {}, related: {}, finalizing: isFinalizing };
  return unstored(pkg, await answerOf(run, `/packages/own/${isFinalizing ? 'finalize' : 'sync'}`, call));
}

async function answerOf(run: Running, path: string, call: JsonObject): Promise<JsonObject> {
  const answer = await post(`${run.world.address}${path}`, call);
  const text = await answer.body.text();
  if (answer.statusCode !== 200) throw new Error(`${path}: ${answer.statusCode} ${text}`);
  return parseJson(text) as JsonObject;
}

function unstored(object: JsonObject, answer: JsonObject): readonly string[] {
  const isStored =
    answer.finalized !== true && equalJson(withoutGeneration(objectAt(answer, 'status')), withoutGeneration(statusOf(object)));
  return isStored ? [] : [`${nameOf(object)}: the answer ${JSON.stringify(answer)} is not stored`];
}

/** Metacontroller adds the generation to the status of a package transaction. */
function withoutGeneration({ observedGeneration: _, ...status }: JsonObject): JsonObject {
  return status;
}

/** Everything that package transactions install, and they themselves, with resource versions. */
async function versions({ world: { client } }: Running): Promise<readonly string[]> {
  const lists = [...kinds.map((plural) => packagePath(plural)), lockPath.replace(/\/lock$/, ''), definitionPath(), ptxPath()];
  const found = await Promise.all(lists.map(async (path) => objectsAt(must(await client.get(path)), 'items')));
  return found.flat().map((one) => `${nameOf(one)} ${at(one, 'metadata', 'resourceVersion')}`);
}
