// A Package that makes its own package transactions: the reads that its decision needs. The call names the Package, and the hook
// reads everything live.
import { isTerminating } from '../../objects/content/ownership.ts';
import { at, type JsonObject, textAt } from '../../objects/json.ts';
import type { OwnCall } from '../call.ts';
import { holderOf } from '../model/holder.ts';
import { longestLabel, packageLabel } from '../model/names.ts';
import { makesOwn, type OwnMode, ownName, packageUidLabel } from '../model/own.ts';
import { isManual } from '../model/package.ts';
import { readSnapshot } from '../model/package-transaction.ts';
import { isTerminal } from '../model/status.ts';
import { absenceIn } from '../writes/absence.ts';
import { accountIn, nameLabel, packagesOfKind, packageTransactions, revisionsOfKind } from '../writes/resources.ts';
import { findLock } from './lock-state.ts';
import { movedTag } from './moved-tag.ts';
import type { OwnObservation } from './observation.ts';
import { find, list, type PackageReader, ReadFailed } from './read.ts';
import type { Registries } from './registries.ts';

interface OwnContext {
  readonly reader: PackageReader;
  readonly registries: Registries;
  readonly mode: OwnMode;
  readonly isBeside: boolean;
}

/** Undefined if the Package is gone. */
export async function observeOwn(context: OwnContext, call: OwnCall): Promise<OwnObservation | undefined> {
  const { reader, mode, isBeside } = context;
  const { kind, name, uid, isFinalizing } = call;
  const { namespace } = reader;
  const answer = await reader.cluster.get({ resource: packagesOfKind(kind), name }, accountIn(namespace));
  if (answer.kind === 'failed' && answer.failure.kind !== 'absent') throw new ReadFailed(answer.failure);
  if (answer.kind === 'failed' || textAt(answer.object, 'metadata', 'uid') !== uid) return undefined;
  const { object: pkg, serverTime: now } = answer;
  const made = await list(reader, packageTransactions, undefined, { labelSelector: `${packageUidLabel}=${uid}`, ...inShort });
  const isMade = made.some((one) => nameOf(one) === ownName(kind, pkg));
  const revisions = await revisionsOf(reader, call);
  const lock = !isMade || needsLock(pkg, revisions) ? await findLock(reader) : undefined;
  return {
    ...{ kind, pkg, isFinalizing, isOwn: makesOwn(mode, pkg), isBeside, made, revisions, namespace, now },
    writer: await writerOf(reader, pkg, made),
    namesake: isMade ? undefined : await find(reader, { resource: packageTransactions, name: ownName(kind, pkg) }),
    lock,
    holder: isTerminating(pkg) ? await otherHolder(reader, lock, made) : undefined,
    moved: await movedOf(context, { kind, pkg, made, revisions }),
  };
}

function needsLock(pkg: JsonObject, revisions: readonly JsonObject[]): boolean {
  return isTerminating(pkg) || isManual(at(pkg, 'spec')) || revisions.some((one) => absenceIn(one) !== undefined);
}

/** While a package transaction of the Package runs, and after that of its generation has failed, the Package does not follow the tag. */
async function movedOf(
  { reader, registries }: OwnContext,
  { kind, pkg, made, revisions }: Pick<OwnObservation, 'kind' | 'pkg' | 'made' | 'revisions'>,
): Promise<string | undefined> {
  const wanted = readSnapshot(pkg, '');
  const current = made.find((one) => nameOf(one) === ownName(kind, pkg));
  const isResting =
    made.every((one) => isTerminal(textAt(one, 'status', 'phase'))) && textAt(current, 'status', 'phase') !== 'Failed';
  if (isTerminating(pkg) || revisions.length === 0 || !isResting || typeof wanted === 'string') return undefined;
  return movedTag(reader, registries, { wanted, revisions });
}

async function revisionsOf(reader: PackageReader, { kind, name }: OwnCall): Promise<readonly JsonObject[]> {
  if (name.length > longestLabel) return []; // No revision has a longer label.
  return list(reader, revisionsOfKind(kind), undefined, { labelSelector: `${packageLabel}=${name}`, whole: true });
}

/** Each status holds a whole Lock, up to 1 MB of it. */
const inShort = {
  whole: true,
  keep(object: JsonObject): JsonObject {
    const members = ['phase', 'outcome', 'lostValues', 'deletionTime', 'completionTime', 'conditions', 'progress'].map(
      (key) => [key, at(object, 'status', key)] as const,
    );
    return {
      metadata: at(object, 'metadata') ?? {},
      spec: { change: at(object, 'spec', 'change') ?? '' },
      status: Object.fromEntries(members.filter(([, value]) => value !== undefined)) as JsonObject,
    };
  },
} as const;

async function writerOf(reader: PackageReader, pkg: JsonObject, made: readonly JsonObject[]): Promise<JsonObject | undefined> {
  const name = textAt(pkg, 'metadata', 'labels', nameLabel);
  if (name === undefined || made.some((one) => nameOf(one) === name)) return undefined;
  return find(reader, { resource: packageTransactions, name });
}

async function otherHolder(
  reader: PackageReader,
  lock: JsonObject | undefined,
  made: readonly JsonObject[],
): Promise<JsonObject | undefined> {
  const holder = lock === undefined ? undefined : holderOf(lock);
  if (holder === undefined || made.some((one) => textAt(one, 'metadata', 'uid') === holder.uid)) return undefined;
  const found = await find(reader, { resource: packageTransactions, name: holder.name });
  return textAt(found, 'metadata', 'uid') === holder.uid ? found : undefined;
}

function nameOf(object: JsonObject): string | undefined {
  return textAt(object, 'metadata', 'name');
}
