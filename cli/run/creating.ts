// The writes of apply, in their order: a dry run of the Transaction, its content Secret, the Transaction, the owner of the Secret. Ctrl-C
// between them deletes the Secret. If the process is killed, it leaves at most a Secret without an owner. The next apply and `janus locks`
// name this Secret.

import type { Failure } from '../../hooks/objects/failure.ts';
import { at, equalJson, type JsonObject, textAt, withPath } from '../../hooks/objects/json.ts';
import { foreign } from '../../hooks/objects/words.ts';
import { lint } from '../../hooks/transactions/inspect.ts';
import type { Finding } from '../../hooks/transactions/inspection.ts';
import { longestTransactionName } from '../../schemas/spec-values.ts';
import { contentSecretOf, contentSecrets, isOrphan, orphans, secretNameOf } from '../cluster/content-secrets.ts';
import { caller, type Session } from '../cluster/session.ts';
import { findTransaction, type TransactionName } from '../cluster/transactions.ts';
import { createContentSecret, createTransaction, deleteContentSecret, ownContentSecret, userName } from '../cluster/writes.ts';
import { located, type Release, signed, withContents } from '../input/release.ts';
import { type Io, note, refuseInterrupted } from '../io.ts';
import { Problem } from '../problem.ts';
import { sentenceOf } from '../show/sentences.ts';
import { hasEndedEmpty, whyNotReleased } from './released.ts';
import { leftOf, MadeMeanwhile, mustBeWritten, withoutMessage } from './written.ts';

interface Creating {
  readonly session: Session;
  readonly io: Io;
  /** Whether apply may use another name if a Transaction with another spec has the name. */
  readonly isNewNameWanted: boolean;
  readonly engineNamespace: string;
  /** Asks the user whether to create the Transaction under this name. Throws a Problem if the user declines. Undefined: without a question. */
  readonly ask: ((release: Release) => Promise<void>) | undefined;
}

export interface Created {
  readonly wanted: TransactionName;
  /** The object that the API server has stored. */
  readonly object: JsonObject;
  /** Whether the Transaction already existed, with an equal spec. */
  readonly found: boolean;
}

/** Throws a Problem. Nothing is created then, unless the message names an object. */
export async function create(creating: Creating, release: Release): Promise<Created> {
  const namespace = textAt(release.transaction, 'metadata', 'namespace') ?? '';
  if (hasContents(release)) await nameOrphans(creating, namespace);
  const first = textAt(release.transaction, 'metadata', 'name');
  return first === undefined
    ? createAs(creating, release, { namespace })
    : createNamed(creating, release, { namespace, name: first });
}

async function createNamed(creating: Creating, release: Release, { namespace, name: first }: TransactionName): Promise<Created> {
  for (let number = 1; ; number += 1) {
    const wanted = { namespace, name: numbered(first, number) };
    const created = await createUnlessTaken(creating, release, wanted);
    if (created.kind === 'created') return created.created;
    if (!created.givesWay && !creating.isNewNameWanted) throw new Problem(`${created.why}: ${created.advice}.`);
    note(creating.io, `${created.why}: this release gets the name ${numbered(first, number + 1)}.`);
  }
}

/** NAME, NAME-2, and so on. A long NAME is cut to the longest name that a Transaction may have. */
function numbered(first: string, number: number): string {
  if (number === 1) return first;
  const kept = first.slice(0, longestTransactionName - `-${number}`.length).replace(/[-.]+$/, '');
  return `${kept}-${number}`;
}

type Attempted =
  | { readonly kind: 'created'; readonly created: Created }
  /** The name is taken. `givesWay`: no change of the Transaction that has it is in the cluster. */
  | { readonly kind: 'taken'; readonly why: string; readonly advice: string; readonly givesWay: boolean };

async function createUnlessTaken(creating: Creating, release: Release, wanted: TransactionName): Promise<Attempted> {
  // Both requests at once, unless a question comes between them.
  const trial = creating.ask === undefined ? tryOut(creating, release, wanted) : undefined;
  trial?.catch(() => undefined);
  const found = await findTransaction(creating.session, wanted);
  if (found !== undefined) return adoptedIfEqual(creating, release, found);
  try {
    return { kind: 'created', created: await createAs(creating, release, wanted, trial) };
  } catch (error) {
    const made = error instanceof MadeMeanwhile ? await findTransaction(creating.session, wanted) : undefined;
    if (made === undefined) throw error;
    return adoptedIfEqual(creating, release, made);
  }
}

async function adoptedIfEqual(creating: Creating, release: Release, found: JsonObject): Promise<Attempted> {
  const [namespace = '', name = ''] = [textAt(found, 'metadata', 'namespace'), textAt(found, 'metadata', 'name')];
  if (textAt(found, 'metadata', 'deletionTimestamp') !== undefined)
    throw new Problem(`Transaction ${name} is being deleted: wait until it is deleted, or give another --name.`);
  if (hasEndedEmpty(found)) {
    const why = `Transaction ${name} ended as ${textAt(found, 'status', 'phase')}, and stays as a record`;
    return { kind: 'taken', why, advice: newName, givesWay: true };
  }
  if (creating.isNewNameWanted && textAt(found, 'status', 'phase') === 'Failed')
    return { kind: 'taken', why: `Transaction ${name} is Failed, with objects not restored`, advice: newName, givesWay: true };
  if (!(await isEqual(creating, release, found))) {
    const why = `Transaction ${name} exists in namespace ${namespace} with another spec, which cannot be changed`;
    return { kind: 'taken', why, advice: `give another --name, or ${newName}`, givesWay: false };
  }
  const why = await whyNotReleased(creating.session, release, found, creating.engineNamespace);
  if (why === undefined) return { kind: 'created', created: await adopted(creating, release, found) };
  return {
    kind: 'taken',
    why: `Transaction ${name} is Committed, but ${why}`,
    advice: `to release this again give ${newName}`,
    givesWay: false,
  };
}

const newName = '--new-name';

function hasContents({ contents }: Release): boolean {
  return Object.keys(contents).length > 0;
}

/** Throws a Problem for what admission or the engine would refuse, before the command stores anything. Resolves with the user's name. */
async function tryOut({ session }: Creating, release: Release, wanted: Partial<TransactionName>): ReturnType<typeof userName> {
  const named = withName(release.transaction, wanted.name);
  refuse(lint(named).filter(({ reason }) => reason === 'TransactionTooLarge'));
  const likely = hasContents(release) ? withContents(named, likelySecret(release, wanted.name)) : named;
  const [user, tried] = await Promise.all([userName(session), createTransaction(session, likely, true)]);
  refuseFindings([mustBeWritten(tried, session, named)], release);
  return user;
}

/** `trial`: that of this name, if it has begun. */
async function createAs(
  creating: Creating,
  release: Release,
  wanted: Partial<TransactionName>,
  trial?: ReturnType<typeof tryOut>,
): Promise<Created> {
  const { session } = creating;
  const named = withName(release.transaction, wanted.name);
  const namespace = wanted.namespace ?? '';
  await creating.ask?.({ ...release, transaction: named });
  const user = await (trial ?? tryOut(creating, release, wanted));
  refuseInterrupted(creating.io);
  const contents = hasContents(release) ? await secretFor(creating, release, wanted) : undefined;
  const secret = textAt(contents, 'metadata', 'name');
  if (creating.io.interrupted.aborted) refuseInterrupted(creating.io, leftOf(await leftWithout(creating, contents)));
  const whole = signed(secret === undefined ? named : withContents(named, secret), user);
  const answer = await createTransaction(session, whole);
  const left = answer.kind === 'failed' ? await leftAfter(creating, answer.failure, contents) : secret;
  const created = mustBeWritten(answer, session, named, { secret: left });
  const name = textAt(created, 'metadata', 'name') ?? '';
  if (secret !== undefined) await own(creating, { namespace, name: secret }, created);
  return { wanted: { namespace, name }, object: created, found: false };
}

/** Throws a Problem if the checks of the engine find a fault. The engine would end such a Transaction as Failed. */
export function refuseFindings(transactions: readonly JsonObject[], release: Release): void {
  refuse(located(transactions.flatMap(lint), release));
}

function refuse([first, ...more]: readonly Finding[]): void {
  if (first === undefined) return;
  const rest = more.length === 0 ? '' : `; and ${more.length} more: janus lint and janus plan name them`;
  throw new Problem(`This Transaction would be refused (${first.reason}): ${first.message}${rest}. Nothing is created.`);
}

/** A name as long as that of the Secret: 500 changes may each contain this name. */
function likelySecret({ transaction }: Release, name: string | undefined): string {
  return name === undefined ? `${generatedSecret(transaction)}xxxxx` : secretNameOf(name);
}

function generatedSecret(transaction: JsonObject): string {
  return `${textAt(transaction, 'metadata', 'generateName') ?? ''}contents-`;
}

function withName(transaction: JsonObject, name: string | undefined): JsonObject {
  return name === undefined ? transaction : withPath(transaction, ['metadata', 'name'], name);
}

/** The name of the Secret, if it stays. If the API server refused the Transaction for good, the Secret must not block the next apply. */
async function leftAfter(creating: Creating, { kind }: Failure, contents: JsonObject | undefined): Promise<string | undefined> {
  // A Transaction that exists, or may exist, may name the Secret.
  return kind === 'refused' ? leftWithout(creating, contents) : textAt(contents, 'metadata', 'name');
}

/** Deletes the Secret, because no Transaction names it. Resolves with its name if it stays. */
async function leftWithout({ session }: Creating, contents: JsonObject | undefined): Promise<string | undefined> {
  if (contents === undefined) return undefined;
  const answer = await deleteContentSecret(session, contents);
  return answer.kind === 'ok' ? undefined : textAt(contents, 'metadata', 'name');
}

/** Creates the Secret, or uses a Secret that an earlier apply of these contents has left. */
async function secretFor(
  creating: Creating,
  { transaction, contents }: Release,
  wanted: Partial<TransactionName>,
): Promise<JsonObject> {
  const { session } = creating;
  const namespace = wanted.namespace ?? '';
  const metadata =
    wanted.name === undefined ? { generateName: generatedSecret(transaction) } : { name: secretNameOf(wanted.name) };
  const secret = contentSecretOf(metadata, contents);
  const answer = await createContentSecret(session, namespace, secret);
  if (answer.kind === 'ok') return answer.body;
  if (answer.failure.kind === 'exists' && wanted.name !== undefined)
    return again(creating, { namespace, name: secretNameOf(wanted.name) }, secret);
  // The message of the API server may quote the Secret.
  const attempted = { verb: 'create', resource: 'secrets', namespace, server: session.server };
  const sentence = sentenceOf(withoutMessage(answer).failure, attempted);
  throw new Problem(
    `${sentence.trim()} The values of Secrets go into a Secret of their own; --plain-secrets puts them into the Transaction.`,
  );
}

async function again({ session, io }: Creating, place: TransactionName, secret: JsonObject): Promise<JsonObject> {
  const found = await session.cluster.get({ resource: contentSecrets, ...place }, caller);
  const isSame = found.kind === 'ok' && isOrphan(found.object) && equalJson(at(found.object, 'data'), at(secret, 'data'));
  if (found.kind !== 'ok' || !isSame)
    throw new Problem(
      `Secret ${place.namespace}/${place.name} exists with other contents, perhaps left by an earlier apply: delete it, or give another --name.`,
    );
  note(io, `Secret ${place.namespace}/${place.name} was left by an interrupted apply, and is used now.`);
  return found.object;
}

async function own({ session, io }: Creating, place: TransactionName, owner: JsonObject): Promise<void> {
  const answer = await ownContentSecret(session, place, owner);
  if (answer.kind === 'failed')
    note(io, `Secret ${place.namespace}/${place.name} has no owner (${answer.failure.reason}): delete it with the Transaction.`);
}

/** The existing Transaction. If an earlier apply ended before it set the owner of the Secret, this sets the owner. */
async function adopted(creating: Creating, release: Release, found: JsonObject): Promise<Created> {
  const { session } = creating;
  const [namespace = '', name = ''] = [textAt(found, 'metadata', 'namespace'), textAt(found, 'metadata', 'name')];
  if (hasContents(release)) {
    const place = { namespace, name: secretNameOf(name) };
    const secret = await session.cluster.getMetadata({ resource: contentSecrets, ...place }, caller);
    if (secret.kind === 'ok' && isOrphan(secret.object)) await own(creating, place, found);
  }
  return { wanted: { namespace, name }, object: found, found: true };
}

/** Compares the stored spec with the spec that the API server would store, with defaults. The order of keys does not count. */
async function isEqual({ session }: Creating, release: Release, found: JsonObject): Promise<boolean> {
  const name = textAt(found, 'metadata', 'name') ?? '';
  const whole = hasContents(release) ? withContents(release.transaction, secretNameOf(name)) : release.transaction;
  const metadata = { namespace: textAt(found, 'metadata', 'namespace') ?? '', generateName: 'compare-' };
  const compared = { ...whole, metadata };
  const tried = mustBeWritten(await createTransaction(session, compared, true), session, compared);
  return equalJson(at(tried, 'spec'), at(found, 'spec'));
}

async function nameOrphans({ session, io }: Creating, namespace: string): Promise<void> {
  const found = await orphans(session, namespace);
  if ('kind' in found) return;
  for (const orphan of found)
    note(
      io,
      `Secret ${orphan.namespace}/${foreign(orphan.name, 253)} was left by an interrupted apply: if no Transaction names it, delete it.`,
    );
}
