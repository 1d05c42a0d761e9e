// Creates a Transaction, or follows the one that is already there.
import { textAt } from '../../hooks/model/json.ts';
import type { Session } from '../cluster/session.ts';
import type { Call } from '../command/command.ts';
import { readManifests } from '../input/read.ts';
import { type Release, transactionIn } from '../input/release.ts';
import { say } from '../io.ts';
import { exits } from '../problem.ts';
import { type Created, create } from './creating.ts';
import { confirmed, outputStyle, sourcesOf, timeoutOf } from './given.ts';
import { releaseOptionsOf } from './release-options.ts';
import { watch } from './watching.ts';

export async function run(call: Call): Promise<number> {
  const { io, options } = call;
  const manifests = await readManifests(sourcesOf(options), io);
  const timeout = timeoutOf(options);
  const session = await call.connect();
  const release = transactionIn(manifests, releaseOptionsOf(call, session.namespace, manifests));
  if (options.flag('confirm') && !(await isWanted(call, release))) return exits.notDone;
  const created = await create({ session, io, isNewNameWanted: options.flag('newName') }, release);
  say(io, `transaction.tx.janus.io/${created.wanted.name} ${created.found ? 'unchanged' : 'created'}`);
  return options.flag('wait') ? await follow(call, session, { created, timeout }) : exits.done;
}

function isWanted({ io, options }: Call, { transaction }: Release): Promise<boolean> {
  const changes = transaction.spec;
  const count = changesIn(changes);
  const place = textAt(transaction, 'metadata', 'namespace');
  return confirmed(io, options, `Create a Transaction of ${count} changes in namespace ${place}?`);
}

function changesIn(spec: unknown): number {
  return typeof spec === 'object' && spec !== null && 'changes' in spec && Array.isArray(spec.changes) ? spec.changes.length : 0;
}

interface Following {
  readonly created: Created;
  readonly timeout: number | undefined;
}

function follow({ io, options }: Call, session: Session, { created, timeout }: Following): Promise<number> {
  return watch({ io, session, wanted: created.wanted, end: 'Committed', style: outputStyle(io, options), timeout });
}
