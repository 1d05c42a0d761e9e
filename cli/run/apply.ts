// Creates a Transaction, or follows an existing Transaction of that name.
import { usualEngineNamespace } from '../cluster/engine.ts';
import type { Session } from '../cluster/session.ts';
import type { Call } from '../command/command.ts';
import { readManifests } from '../input/read.ts';
import { type Release, transactionIn } from '../input/release.ts';
import { say, sayAll } from '../io.ts';
import { exits, Problem } from '../problem.ts';
import { planLines } from '../show/plan.ts';
import { amount } from '../show/words.ts';
import { type Created, create } from './creating.ts';
import { confirmed, outputStyle, sourcesOf, timeoutOf } from './given.ts';
import { codeOf } from './plan.ts';
import { besideEngine, planOf } from './planning.ts';
import { releaseOptionsOf } from './release-options.ts';
import { watch } from './watching.ts';

export async function run(call: Call): Promise<number> {
  const { io, options } = call;
  const manifests = await readManifests(sourcesOf(options), io);
  const timeout = timeoutOf(options);
  const session = await call.connect();
  const release = transactionIn(manifests, releaseOptionsOf(call, session.namespace, manifests));
  const ask = async (named: Release): Promise<void> => {
    if (options.flag('confirm') && !(await isWanted(call, session, named))) throw new Problem('The Transaction is not created.');
  };
  const engineNamespace = options.text('engineNamespace') ?? usualEngineNamespace;
  const created = await create({ session, io, isNewNameWanted: options.flag('newName'), engineNamespace, ask }, release);
  say(io, `transaction.tx.janus.io/${created.wanted.name} ${created.found ? 'unchanged' : 'created'}`);
  return options.flag('wait') ? await follow(call, session, { created, timeout }) : exits.done;
}

/** Shows the plan, and asks. */
async function isWanted({ io, options }: Call, session: Session, release: Release): Promise<boolean> {
  const engineNamespace = options.text('engineNamespace') ?? usualEngineNamespace;
  const made = await planOf(session, release, { actAs: 'serviceAccount', engineNamespace });
  const { plan, engine } = await besideEngine(session, made, engineNamespace);
  const style = outputStyle(io, options);
  sayAll(io, planLines(plan, { style, engine, program: io.program, code: codeOf(plan, false), isBrief: false }));
  if (plan.verdict === 'refused') throw new Problem('The engine would refuse this Transaction, so it is not created.');
  return confirmed(
    io,
    options,
    `Create this Transaction of ${amount(plan.changes.length, 'change')} in namespace ${plan.namespace}?`,
  );
}

interface Following {
  readonly created: Created;
  readonly timeout: number | undefined;
}

function follow({ io, options }: Call, session: Session, { created, timeout }: Following): Promise<number> {
  const { wanted, object, found } = created;
  const known = found ? undefined : object;
  return watch({ io, session, wanted, known, end: 'Committed', style: outputStyle(io, options), timeout });
}
