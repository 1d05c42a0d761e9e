// Calls that come twice, late or never, and answers of the API server that say little.
import type { Sabotage } from '../sabotage.ts';

const failures = 'server/kubernetes/failures.ts';
const failureTests = ['test/server/kubernetes/failures.test.ts'];
const faults = 'test/faults/faults.test.ts';

export const calls: readonly Sabotage[] = [
  {
    name: 'body-trusted',
    fault: 'the engine evaluates the status in the body of a call, not the stored one',
    edits: [
      {
        file: 'hooks/observe/live.ts',
        find: 'const answer = await reader.get({ resource: transactions, namespace, name }, engine);',
        replace:
          "const answer = await reader.get({ resource: transactions, namespace, name }, engine);\n  if (answer.kind === 'ok') answer.object.status = told;",
      },
      {
        file: 'hooks/observe/live.ts',
        find: '{ namespace, name, uid }: Pick',
        replace: '{ namespace, name, uid, status: told }: Pick',
      },
    ],
    caughtBy: ['test/scenarios/calls/duplicates.test.ts'],
  },
  {
    name: 'unread-is-gone',
    fault: 'a Transaction that cannot be read counts as gone',
    edits: [
      {
        file: 'hooks/observe/live.ts',
        find: "if (answer.failure.kind === 'absent') return",
        replace: "if (answer.failure.kind !== 'refused') return",
      },
    ],
    caughtBy: ['test/scenarios/calls/unreadable-transaction.test.ts'],
  },
  {
    name: 'same-name-other-uid',
    fault: 'a call for a Transaction that is gone is served with its successor of the same name',
    edits: [
      {
        file: 'hooks/observe/live.ts',
        find: "textAt(answer.object, 'metadata', 'uid') === uid ?",
        replace: 'uid !== undefined ?',
      },
    ],
    caughtBy: ['test/scenarios/calls/duplicates.test.ts'],
  },
  {
    name: 'version-not-raised',
    fault: 'the version in the status does not grow: a late answer undoes progress',
    edits: [
      {
        file: 'hooks/outcome/status.ts',
        find: 'before.version + 1 : before.version,',
        replace: 'Math.max(1, before.version) : before.version,',
      },
    ],
    caughtBy: ['test/hooks/outcome/status.test.ts'],
  },
  {
    name: 'display-always-new',
    fault: 'target and state are added to what a version without them has stored: two versions in turn rewrite it for ever',
    edits: [
      {
        file: 'hooks/outcome/status.ts',
        find: '...(hasMoved ? { display: newDisplay(fitting, transaction) } : keptDisplay(before)),',
        replace: 'display: newDisplay(fitting, transaction),',
      },
    ],
    caughtBy: ['test/hooks/outcome/status.test.ts', 'test/scenarios/calls/version-before.test.ts'],
  },
  {
    name: 'calls-at-once',
    fault: 'calls for one Transaction run in parallel in a process',
    edits: [{ file: 'hooks/memory.ts', find: 'const turn = previous.then(work, work);', replace: 'const turn = work();' }],
    caughtBy: ['test/hooks/memory.test.ts'],
  },
  {
    name: 'deadline-unheeded',
    fault: 'a process continues to write when it wakes up after a freeze',
    edits: [
      {
        file: 'hooks/perform/deadline.ts',
        find: '        if (isLate()) return outOfTime;\n',
        replace: '',
      },
    ],
    caughtBy: [
      'test/hooks/perform/deadline.test.ts',
      'test/scenarios/snapshots/authenticity.test.ts',
      'test/scenarios/calls/late-writes.test.ts',
      'test/server/main.test.ts',
      faults,
    ],
  },
  {
    name: 'transient-is-final',
    fault: 'an overloaded API server counts as a refusal',
    edits: [
      {
        file: failures,
        find: "return code >= 500 || [401, 408, 429].includes(code) ? 'transient' : 'refused';",
        replace: "return code > 500 || [401, 408, 429].includes(code) ? 'transient' : 'refused';",
      },
    ],
    caughtBy: failureTests,
  },
  {
    name: 'refusal-is-transient',
    fault: 'a definite refusal is retried until the timeout',
    edits: [{ file: failures, find: '[401, 408, 429].includes(code)', replace: '[401, 403, 408, 422, 429].includes(code)' }],
    caughtBy: failureTests,
  },
  {
    name: 'lost-is-definitive',
    fault: 'an answer that was lost counts as proof that nothing happened',
    edits: [
      {
        file: failures,
        find: "return { kind: 'transient', code, reason, message, fields: [], definitive: false };",
        replace: "return { kind: 'transient', code, reason, message, fields: [], definitive: true };",
      },
    ],
    caughtBy: failureTests,
  },
  {
    name: 'transient-apply-undone',
    fault: 'a lost answer of one change causes a rollback',
    edits: [
      {
        file: 'hooks/outcome/apply.ts',
        find: "if (failure.kind === 'transient')",
        replace: "if (failure.kind === 'absent' && failure.code === 0)",
      },
    ],
    caughtBy: ['test/hooks/outcome/result.test.ts', 'test/scenarios/calls/lost-replies.test.ts', faults],
  },
  {
    name: 'request-consumed-early',
    fault: 'a request counts as handled while the Transaction still waits for its locks',
    edits: [
      {
        file: 'hooks/decide/requested-undo.ts',
        find: 'waiting: (message) => waitingToUndo(withLocks, now, message),',
        replace: 'waiting: (message) => waitingToUndo(answered(withLocks, request, message), now, message),',
      },
    ],
    caughtBy: ['test/scenarios/requests/effect-by-phase.test.ts', 'test/scenarios/locks/lost-locks.test.ts'],
  },
  {
    name: 'next-not-announced',
    fault: 'the next change is sent before a stored status announces it: after a crash nobody knows of it',
    edits: [
      {
        file: 'hooks/due.ts',
        find: "const index = stored.status.items.findIndex(({ progress }) => progress.kind === 'announced');",
        replace:
          "const index = stored.status.items.findIndex(({ progress }) => progress.kind === 'announced' || progress.kind === 'prepared');",
      },
    ],
    caughtBy: ['test/hooks/due.test.ts'],
  },
  {
    name: 'spec-unchecked',
    fault: 'a spec is carried out although it differs from the checked one',
    edits: [
      {
        file: 'hooks/due.ts',
        find: 'return status.specDigest !== transaction.specDigest;',
        replace: "return status.specDigest === '' && transaction.specDigest === '-';",
      },
    ],
    caughtBy: ['test/hooks/due.test.ts'],
  },
  {
    name: 'account-unlooked',
    fault: 'a ServiceAccount is impersonated although it is gone',
    edits: [
      {
        file: 'hooks/decide/guards.ts',
        find: "if (view.serviceAccount.kind === 'absent') {",
        replace: "if (view.serviceAccount.kind === 'absent' && account === '') {",
      },
    ],
    caughtBy: ['test/hooks/decide/decide.test.ts'],
  },
  {
    name: 'let-go-too-early',
    fault: 'the finalizer is removed although the cleanup failed: locks and snapshots stay behind',
    edits: [
      {
        file: 'hooks/outcome/ends.ts',
        find: "  if (failures.some(({ kind }) => kind === 'transient'))\n    return waitForRecovery(done, 'deleting the Leases and snapshots of the Transaction');\n",
        replace: '',
      },
    ],
    caughtBy: [
      'test/hooks/outcome/result.test.ts',
      'test/scenarios/changes/refused-writes.test.ts',
      'test/scenarios/lifecycle/deletion.test.ts',
      faults,
    ],
  },
];
