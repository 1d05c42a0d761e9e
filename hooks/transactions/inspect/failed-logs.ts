// What failed containers have printed, of the objects that a Transaction waits for: read as the caller, while the Pods are there.
import { describe } from '../../objects/reference.ts';
import { lastLines, logSourceOf } from '../gates/logs.ts';
import { hasPods } from '../gates/new-pods.ts';
import type { FailedLog, LogParts } from '../inspection.ts';
import { openGates } from '../model/gated.ts';
import { decodeTransaction, type Transaction } from '../model/transaction.ts';
import { listIn, readBelow } from '../observe/pods.ts';
import { locationOf } from '../writes/change.ts';
import { engine } from '../writes/resources.ts';

/** Gates of which that many are read at once. */
const mostGates = 5;

export async function readFailedLogs(
  parts: LogParts,
  object: Parameters<typeof decodeTransaction>[0],
): Promise<readonly FailedLog[]> {
  const transaction = decodeTransaction(object);
  const found = await Promise.all(awaited(transaction).map((index) => logOf(parts, transaction, index)));
  return found.filter((log) => log !== undefined);
}

/** Changes whose object is not ready. */
function awaited(transaction: Transaction): readonly number[] {
  const { status } = transaction;
  if (status?.phase !== 'Committing') return [];
  const open = openGates(transaction, status.items)?.gates ?? [];
  const isReady = (index: number): boolean => status.items[index]?.gate?.readySince !== undefined;
  return open.flatMap(({ index }) => (isReady(index) ? [] : [index])).slice(0, mostGates);
}

async function logOf({ reader, clock }: LogParts, transaction: Transaction, index: number): Promise<FailedLog | undefined> {
  const target = transaction.changes[index]?.target;
  if (target === undefined) return undefined;
  const served = await reader.resource(target.apiVersion, target.kind);
  if (served.kind === 'failed' || !hasPods(served.resource)) return undefined;
  const location = locationOf({ namespace: transaction.namespace, ...target }, served.resource);
  const answer = await reader.get(location, engine);
  if (answer.kind === 'failed') return undefined;
  const owner = { reader, identity: engine, clock, location, object: answer.object };
  const { pods = [] } = await readBelow(listIn(owner), owner);
  const source = logSourceOf(pods);
  const log = source === undefined ? undefined : await reader.logs(source, engine);
  if (source === undefined || log === undefined || log.kind === 'failed') return undefined;
  const text = lastLines(log.text);
  return text === '' ? undefined : { index, object: describe(target), pod: source.pod, container: source.container, text };
}
