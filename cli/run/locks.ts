import { orphans } from '../cluster/content-secrets.ts';
import { engineIn, usualEngineNamespace } from '../cluster/engine.ts';
import { type LockView, readLocks } from '../cluster/locks.ts';
import type { Session } from '../cluster/session.ts';
import { listVisibleTransactions, type TransactionName } from '../cluster/transactions.ts';
import type { Call } from '../command/command.ts';
import { type Io, note, say, sayAll } from '../io.ts';
import { exits, Problem } from '../problem.ts';
import { clockOf } from '../show/age.ts';
import { documentOf } from '../show/document.ts';
import { isOver } from '../show/end.ts';
import { sentenceOf } from '../show/sentences.ts';
import { tableOf } from '../show/table.ts';
import { viewOf } from '../show/view.ts';
import { saidAsData } from './given.ts';

export async function run(call: Call): Promise<number> {
  const { io, options, connect } = call;
  const session = await connect();
  const engineNamespace = options.text('engineNamespace') ?? usualEngineNamespace;
  const found = await readLocks(session, engineNamespace);
  const obstacle = await obstacleTo(found, session, engineNamespace);
  const { namespace, objects } = await listVisibleTransactions(session, session.namespace);
  const known = { namespace, views: objects.map(viewOf) };
  const locks = found.kind === 'ok' ? found.locks.map((lock) => ({ ...lock, ...stateOf(lock, found.now, known) })) : [];
  const left = await orphansSeen(session, known);
  const document = { locks, ...(obstacle === undefined ? {} : { obstacle }), orphans: left.found };
  if (!saidAsData(call, () => documentOf('Locks', document))) show(io, { obstacle, found, locks, known, left: left.found });
  if (left.why !== undefined) note(io, left.why);
  return exits.done;
}

interface Shown {
  readonly obstacle: string | undefined;
  readonly found: Found;
  readonly locks: readonly Stated[];
  readonly known: Seen;
  readonly left: readonly TransactionName[];
}

function show(io: Io, { obstacle, found, locks, known, left }: Shown): void {
  if (obstacle !== undefined) {
    note(io, `${obstacle}: these are the targets of running Transactions.`);
    showHolders(io, known);
  } else if (found.kind === 'ok') showLocks(io, locks, found.now);
  for (const { namespace, name } of left)
    say(io, `Secret ${namespace}/${name} holds contents of an interrupted apply: delete it if no Transaction names it.`);
}

/** Why the result does not show the locks, as half a sentence: the user may not read them, or they may be in another namespace. */
async function obstacleTo(found: Found, session: Session, namespace: string): Promise<string | undefined> {
  if (found.kind === 'failed') {
    const attempted = { verb: 'list', resource: 'leases.coordination.k8s.io', namespace, server: session.server };
    if (found.failure.reason !== 'Forbidden') throw new Problem(sentenceOf(found.failure, attempted));
    return `You may not list leases in namespace ${namespace} (Forbidden)`;
  }
  if (found.locks.length > 0) return undefined;
  const { absence } = await engineIn(session, namespace);
  return absence === undefined ? undefined : `There is no lock, but ${absence}`;
}

type Found = Awaited<ReturnType<typeof readLocks>>;

interface Seen {
  /** Undefined for all namespaces. */
  readonly namespace: string | undefined;
  readonly views: readonly ReturnType<typeof viewOf>[];
}

type Stated = LockView & ReturnType<typeof stateOf>;

function showLocks(io: Io, locks: readonly Stated[], now: number): void {
  if (locks.length === 0) {
    note(io, 'No object is locked.');
    return;
  }
  const rows = locks.map(({ target, holder, since, expires, expired, gone }) => [
    target,
    holder,
    since === undefined ? '' : clockOf(now - since),
    expires === undefined ? '' : clockOf(expires - now),
    [expired ? 'expired' : 'held', ...(gone ? ['its Transaction is gone'] : [])].join(', '),
  ]);
  sayAll(io, tableOf(['TARGET', 'HELD BY', 'SINCE', 'EXPIRES', 'STATE'], rows));
}

/** `gone`: the Transaction that holds it does not exist. */
function stateOf({ holder, holderUid, expires }: LockView, now: number, { namespace, views }: Seen) {
  const isVisible = namespace === undefined || holder.startsWith(`${namespace}/`);
  return { expired: expires !== undefined && expires < now, gone: isVisible && !views.some(({ uid }) => uid === holderUid) };
}

/** A running Transaction holds the locks of all its targets once its checks have passed. */
function showHolders(io: Io, { views }: Seen): void {
  const holding = views.filter((view) => !isOver(view));
  if (holding.length === 0) {
    note(io, 'No Transaction is running.');
    return;
  }
  const rows = holding.flatMap((view) =>
    view.changes.map(({ kind, name }) => [
      `${kind} ${name.includes('/') ? name : `${view.namespace}/${name}`}`,
      `${view.namespace}/${view.name}`,
      view.phase,
    ]),
  );
  sayAll(io, tableOf(['TARGET', 'WANTED BY', 'PHASE'], rows));
}

interface Left {
  readonly found: readonly TransactionName[];
  /** Why the command does not look for them. */
  readonly why?: string;
}

async function orphansSeen(session: Session, { namespace }: Seen): Promise<Left> {
  const found = await orphans(session, namespace);
  if (!('kind' in found)) return { found: found.map((one) => ({ namespace: one.namespace, name: one.name })) };
  const place = namespace === undefined ? 'in any namespace' : `in namespace ${namespace}`;
  const { reason } = found.failure;
  const why = `You may not list secrets ${place} (${reason}): the command does not look for Secrets that an apply may have left.`;
  return { found: [], why };
}
