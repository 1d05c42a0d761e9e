// The command line: what it keeps secret, what it writes, and what it must not lose.
import type { Sabotage } from '../sabotage.ts';

export const commandLine: readonly Sabotage[] = [
  {
    name: 'cli-prints-secrets',
    fault: 'status -o yaml prints the Secrets that a Transaction holds',
    edits: [
      {
        file: 'hooks/inspect/printed.ts',
        find: '!holdsSecret(change)) return written;',
        replace: 'holdsSecret(change)) return written;',
      },
    ],
    caughtBy: ['test/cli/canaries.test.ts'],
  },
  {
    name: 'cli-quotes-refusals',
    fault: 'apply prints what the API server says of a Transaction that holds a Secret',
    edits: [
      {
        file: 'cli/run/written.ts',
        find: 'problemOf(isQuoted ? withoutMessage(answer) : answer,',
        replace: 'problemOf(answer,',
      },
    ],
    caughtBy: ['test/cli/canaries.test.ts'],
  },
  {
    name: 'cli-secret-in-the-clear',
    fault: 'the content of a Secret goes into the Transaction',
    edits: [{ file: 'cli/input/release.ts', find: '!isSecret(target) || options.plainSecrets', replace: 'true' }],
    caughtBy: ['test/cli/secrets.test.ts'],
  },
  {
    name: 'cli-no-dry-run',
    fault: 'the content Secret is created before the API server was asked for the Transaction',
    edits: [
      {
        file: 'cli/run/creating.ts',
        find: 'refuseFindings(lint(mustBeWritten(await createTransaction(session, likely, true), session, named)));',
        replace: '',
      },
    ],
    caughtBy: ['test/cli/secrets.test.ts'],
  },
  {
    name: 'cli-watch-from-now',
    fault: 'what changed while there was no watch is not shown',
    edits: [
      {
        file: 'cli/cluster/follow.ts',
        find: 'if (now.object === undefined || isNews(now.object, seen)) yield now;',
        replace: 'if (now.object === undefined || seen === undefined) yield now;',
      },
    ],
    caughtBy: ['test/cli/connections.test.ts'],
  },
  {
    name: 'cli-watch-from-the-object',
    fault: 'a Transaction is watched from its own version, which the API server forgets, not from that of the list',
    edits: [
      { file: 'cli/cluster/follow.ts', find: 'version: versionIn(answer.body) };', replace: 'version: versionIn(object) };' },
    ],
    caughtBy: ['test/cli/connections.test.ts'],
  },
  {
    name: 'cli-proxy-without-authority',
    fault: 'an HTTPS proxy is not verified by the authorities of the kubeconfig',
    edits: [{ file: 'cli/cluster/kubeconfig.ts', find: '  trustProxy(config);', replace: '' }],
    caughtBy: ['test/cli/connections.test.ts'],
  },
  {
    name: 'cli-ends-before-its-request',
    fault: 'undo --wait takes the end before the request for the end after it',
    edits: [
      {
        file: 'cli/run/watching.ts',
        find: 'return handled === request.value || handled === view.requested[request.name];',
        replace: 'return true;',
      },
    ],
    caughtBy: ['test/cli/lines.test.ts', 'test/cli/transactions.test.ts'],
  },
  {
    name: 'cli-request-for-another',
    fault: 'a request goes to whatever Transaction has the name by then',
    edits: [
      {
        file: 'cli/run/request.ts',
        find: "if (textAt(seen, 'metadata', 'uid') !== textAt(object, 'metadata', 'uid')) throw replaced(wanted, act);",
        replace: "if (textAt(seen, 'metadata', 'name') !== textAt(object, 'metadata', 'name')) throw replaced(wanted, act);",
      },
    ],
    caughtBy: ['test/cli/secrets.test.ts'],
  },
  {
    name: 'cli-creates-after-interrupt',
    fault: 'an apply goes on with its writes after Ctrl-C',
    edits: [
      {
        file: 'cli/io.ts',
        find: 'if (interrupted.aborted) throw',
        replace: 'if (interrupted.aborted && interrupted.reason === 0) throw',
      },
    ],
    caughtBy: ['test/cli/secrets.test.ts'],
  },
];
