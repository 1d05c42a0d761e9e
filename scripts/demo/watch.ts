// Follows a Transaction with the view of the command line's `--wait`: a tree at a terminal, a line for each update elsewhere.
import { openSession } from '../../cli/cluster/session.ts';
import { getTransaction } from '../../cli/cluster/transactions.ts';
import { watch } from '../../cli/run/watching.ts';
import { styleFor } from '../../cli/show/style.ts';
import { viewOf } from '../../cli/show/view.ts';
import type { JsonObject } from '../../hooks/objects/json.ts';
import { statusOf } from '../../test/support/stage.ts';
import type { World } from './world.ts';

interface Story {
  /** The last status. */
  readonly status: JsonObject;
  /** The phase of every status, in the order in which they were stored. */
  readonly phases: readonly string[];
}

// Only a guard against hanging. If a Transaction does not end, the demo prints its present state, and the checks fail.
const patience = 60_000;

/** Shows the states of a Transaction that was just written, until it has ended. After a request, until the request has taken effect. */
export async function watchTransaction(
  { kubeconfig }: World,
  written: JsonObject,
  request?: { readonly name: string; readonly value: string },
): Promise<Story> {
  const { stdin, stdout, stderr, env } = process;
  const interrupted = new AbortController().signal;
  const io = { stdin, stdout, stderr, env, folder: '.', program: 'janus', interrupted };
  const session = openSession({ kubeconfig }, env);
  const { namespace, name } = viewOf(written);
  const wanted = { namespace, name };
  const phases: string[] = [];
  try {
    await watch({
      ...{ io, session, wanted, known: written, timeout: patience },
      end: request === undefined ? 'Committed' : 'RolledBack',
      style: styleFor({ isTerminal: stdout.isTTY === true, env, color: undefined }),
      onState: ({ phase }) => phases.push(phase),
      ...(request && { request }),
    });
    return { status: statusOf(await getTransaction(session, wanted)), phases };
  } finally {
    await session.cluster.close();
  }
}
