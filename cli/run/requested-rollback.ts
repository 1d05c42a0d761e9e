// The rollback that undo --to creates, and what it undoes. The command refuses what the engine would refuse without reading objects, by the
// engine's own rules, before it writes anything.
import { at, type JsonObject, objectAt, textAt, withPath } from '../../hooks/objects/json.ts';
import { foreign } from '../../hooks/objects/words.ts';
import { wouldUndo } from '../../hooks/transactions/inspect.ts';
import { annotations } from '../../hooks/transactions/model/transaction.ts';
import type { Session } from '../cluster/session.ts';
import { listTransactions, noSuch } from '../cluster/transactions.ts';
import type { Call, Options } from '../command/command.ts';
import type { Manifest } from '../input/read.ts';
import { isTransaction, transactionIn } from '../input/release.ts';
import { exits, Problem, wrongUse } from '../problem.ts';
import { planCodes } from '../show/undo.ts';
import { namesOf } from '../show/undone.ts';
import { rollbackTo } from './later.ts';
import { releaseOptionsOf } from './release-options.ts';
import type { Wish } from './undo-wish.ts';

export interface RequestedRollback {
  readonly session: Session;
  /** The rollback, as the user wants it. */
  readonly transaction: JsonObject;
  /** The names of the Transactions that it undoes, the newest first. */
  readonly undoes: readonly string[];
  /** Whether it may leave objects that it cannot restore. */
  readonly isPartial: boolean;
}

/** Throws a Problem if there is no way back. */
export async function requestedRollback({ connect, options, operands: [name] }: Call, wish: Wish): Promise<RequestedRollback> {
  const session = await connect();
  const { namespace } = session;
  const to = options.text('to') ?? '';
  const all = await listTransactions(session, namespace);
  const refused = (why: string): Problem =>
    new Problem(`${why} Nothing was written.`, options.flag('plan') ? planCodes.refused : exits.notDone);
  const like = all.find((one) => nameOf(one) === (name ?? to));
  if (like === undefined && name !== undefined) throw noSuch({ namespace, name });
  if (like === undefined) throw refused(`There is no Transaction ${to} in namespace ${namespace}: ${committedIn(all)}.`);
  if (textAt(like, 'spec', 'fieldManager') === undefined)
    throw refused(`Transaction ${nameOf(like)} has no spec.fieldManager, so its releases are unknown: undo them by name.`);
  const found = wouldUndo(rollbackTo(to, like), all);
  if ('faults' in found) throw refused(`${found.faults.map(({ message }) => message).join('; ')}.`);
  if (name !== undefined && !found.names.includes(name))
    throw refused(`Transaction ${name} is not newer than ${to}: newer are ${namesOf(found.names)}.`);
  return {
    session,
    transaction: asWished(rollbackTo(to, like), like, { wish, options }),
    undoes: found.names,
    isPartial: wish.isPartial,
  };
}

/** The rollback that a file holds; undefined if it holds something else. */
export async function rollbackOfGiven(call: Call, manifests: readonly Manifest[]): Promise<RequestedRollback | undefined> {
  const [first] = manifests;
  if (!isTransaction(first?.object ?? {}) || at(first?.object, 'spec', 'rollback') === undefined) return undefined;
  if (call.options.text('output') === 'markdown')
    throw wrongUse('The plan of a rollback is no markdown: give -o json or yaml, or no -o.');
  const session = await call.connect();
  const { transaction } = transactionIn(manifests, await releaseOptionsOf(call, session, manifests));
  const { labels, name, namespace = session.namespace, generateName = `${name}-` } = objectAt(transaction, 'metadata');
  const metadata = { namespace, generateName, ...(labels === undefined ? {} : { labels }) };
  const isPartial = at(transaction, 'spec', 'rollback', 'partial') === true;
  return { session, transaction: { ...transaction, metadata }, undoes: [], isPartial };
}

const nameOf = (object: JsonObject): string => textAt(object, 'metadata', 'name') ?? '';

const mostNamed = 10;
const longestName = 253;

/** Of which app is not known. */
function committedIn(all: readonly JsonObject[]): string {
  const committed = all.filter(
    (one) => textAt(one, 'status', 'phase') === 'Committed' && textAt(one, 'spec', 'fieldManager') !== undefined,
  );
  if (committed.length === 0) return 'it has no Committed Transaction with spec.fieldManager';
  const names = committed.slice(0, mostNamed).map((one) => foreign(nameOf(one), longestName));
  const more = committed.length > mostNamed ? ` and ${committed.length - mostNamed} older ones` : '';
  return `a rollback can go to ${names.join(', ')}${more}`;
}

interface Wished {
  readonly wish: Wish;
  readonly options: Options;
}

/** It has the labels of the release: they may choose the Metacontroller that serves it. */
function asWished(rollback: JsonObject, like: JsonObject, { wish, options }: Wished): JsonObject {
  const { keep, overwrite, isPartial } = wish;
  const labels = Object.entries(objectAt(like, 'metadata', 'labels')).filter(([key]) => !ownership.test(key));
  const choices = {
    ...objectAt(rollback, 'spec', 'rollback'),
    ...(keep === undefined ? {} : { keep: keep.split(',') }),
    ...(overwrite === undefined ? {} : { overwrite: overwrite.split(',') }),
    ...(isPartial ? { partial: true } : {}),
  };
  const metadata = {
    ...objectAt(rollback, 'metadata'),
    generateName: prefixOf(textAt(like, 'spec', 'fieldManager') ?? ''),
    ...(labels.length === 0 ? {} : { labels: Object.fromEntries(labels) }),
    ...(options.flag('allowIrreversible') ? { annotations: { [annotations.allowIrreversible]: 'true' } } : {}),
  };
  return { ...withPath(rollback, ['spec', 'rollback'], choices), metadata };
}

/** Labels by which other tools know their own objects, and delete those that they do not have. */
const ownership = /^app\.kubernetes\.io\/instance$|^argocd\.argoproj\.io\/|\.toolkit\.fluxcd\.io\//;

/** As apply names the releases of an app. A field manager may have characters that no name may have. */
function prefixOf(manager: string): string {
  const labels = manager.toLowerCase().split('.');
  const fit = labels.map((one) => one.replaceAll(/[^a-z0-9-]+/g, '-').replaceAll(/^-+|-+$/g, '')).filter((one) => one !== '');
  return `${fit.length === 0 ? 'undo' : fit.join('.')}-`;
}
