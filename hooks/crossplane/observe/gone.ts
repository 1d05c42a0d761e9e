// Packages that package transactions have deleted or replaced.
import { at, isObject, type JsonObject, objectsAt, textAt } from '../../objects/json.ts';
import { packageLabel } from '../model/names.ts';
import type { PackageTransaction } from '../model/package-transaction.ts';
import { millisecondsOf } from '../model/status.ts';
import { packageTransactions } from '../writes/resources.ts';
import type { Validation } from './observation.ts';
import { list, type PackageReader } from './read.ts';

interface Gone {
  readonly source: string;
  /** The package transaction that has deleted or replaced it. */
  readonly by: string;
  /** The name of the Package that made the package transaction. */
  readonly packageName: string;
  /** In ms since the epoch. */
  readonly endedAt: number;
}

export async function gonePackages(reader: PackageReader, labelSelector?: string): Promise<readonly Gone[]> {
  const query = { whole: true, keep: endOf, ...(labelSelector === undefined ? {} : { labelSelector }) };
  const ended = await list(reader, packageTransactions, undefined, query);
  return ended.flatMap((one) => {
    const [by = '', packageName = ''] = [textAt(one, 'by'), textAt(one, 'packageName')];
    const endedAt = millisecondsOf(textAt(one, 'completionTime'));
    return objectsAt(one, 'gone').map((gone) => ({ source: textAt(gone, 'source') ?? '', by, packageName, endedAt }));
  });
}

/** Each status holds a whole Lock, up to 1 MB of it. */
function endOf(object: JsonObject): JsonObject {
  const isDone = textAt(object, 'status', 'phase') === 'Succeeded' && at(object, 'spec', 'dryRun') !== true;
  const deleted = at(object, 'spec', 'delete');
  return {
    by: textAt(object, 'metadata', 'name') ?? '',
    packageName: textAt(object, 'metadata', 'labels', packageLabel) ?? '',
    gone: isDone ? [...(isObject(deleted) ? [deleted] : []), ...objectsAt(object, 'status', 'replaced')] : [],
    completionTime: textAt(object, 'status', 'completionTime') ?? '',
  };
}

/** Whether another package transaction has deleted or replaced the package since this Delete was made. */
export async function goneSince(
  reader: PackageReader,
  { createdAt }: PackageTransaction,
  source: string,
): Promise<Validation | undefined> {
  const all = await gonePackages(reader);
  const found = all.find((one) => one.source === source && one.endedAt >= createdAt);
  return found === undefined ? undefined : { kind: 'gone', by: found.by };
}
