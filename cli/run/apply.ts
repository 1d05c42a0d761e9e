// Creates a Transaction, or follows an existing Transaction of that name.
import { usualEngineNamespace } from '../cluster/engine.ts';
import type { Session } from '../cluster/session.ts';
import { getTransaction, type TransactionName } from '../cluster/transactions.ts';
import type { Call } from '../command/command.ts';
import { type Release, transactionIn } from '../input/release.ts';
import { note, say } from '../io.ts';
import { exits, Problem, wrongUse } from '../problem.ts';
import { isOver, stillGoing } from '../show/end.ts';
import { requests } from '../show/requests.ts';
import { viewOf } from '../show/view.ts';
import { type Created, create } from './creating.ts';
import { outputStyle, timeoutOf } from './given.ts';
import { manifestsOf } from './manifests.ts';
import { withOutcome } from './outcome.ts';
import { releaseOptionsOf } from './release-options.ts';
import { send } from './request.ts';
import { watch } from './watching.ts';

export function run(call: Call): Promise<number> {
  const { options } = call;
  if (options.flag('abortOnTimeout') && !(options.flag('wait') && options.text('timeout') !== undefined))
    throw wrongUse('--abort-on-timeout needs --wait and --timeout.');
  return withOutcome(call, 'apply', apply);
}

async function apply(call: Call, name: (one: TransactionName) => void): Promise<number> {
  const { io, options } = call;
  const manifests = await manifestsOf(call);
  const timeout = timeoutOf(options);
  const session = await call.connect();
  const release = transactionIn(manifests, await releaseOptionsOf(call, session, manifests));
  const ask = async (named: Release): Promise<void> => {
    const { isWanted } = await import('./agreement.ts');
    if (!(await isWanted(call, session, named))) throw new Problem('The Transaction is not created.');
  };
  const engineNamespace = options.text('engineNamespace') ?? usualEngineNamespace;
  const created = await create(
    { session, io, isNewNameWanted: options.flag('newName'), engineNamespace, ask: options.flag('confirm') ? ask : undefined },
    release,
  );
  name(created.wanted);
  say(io, `transaction.tx.janus.io/${created.wanted.name} ${created.found ? 'unchanged' : 'created'}`);
  const isWatched = options.flag('wait') || (call.operands[0] !== undefined && io.stdout.isTTY === true);
  return isWatched ? await follow(call, session, { created, timeout }) : exits.done;
}

interface Following {
  readonly created: Created;
  readonly timeout: number | undefined;
}

async function follow({ io, options }: Call, session: Session, { created, timeout }: Following): Promise<number> {
  const { wanted, object, found } = created;
  const engineNamespace = options.text('engineNamespace') ?? usualEngineNamespace;
  const watched = { io, session, wanted, end: 'Committed', style: outputStyle(io, options), engineNamespace } as const;
  const code = await watch({ ...watched, known: found ? undefined : object, timeout });
  if (code !== stillGoing || io.interrupted.aborted || !options.flag('abortOnTimeout')) return code;
  const now = await getTransaction(session, wanted);
  if (isOver(viewOf(now))) return watch({ ...watched, timeout: undefined });
  note(io, '--timeout has passed: the command aborts the Transaction.');
  const { request, known } = await send({ io, session, wanted, object: now, act: requests.abort });
  return watch({ ...watched, known, request, timeout: undefined });
}
