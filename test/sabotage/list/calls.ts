// Promises 5 to 8: locks, crashes, lost and late answers.
import type { Sabotage } from '../sabotage.ts';

export const calls: readonly Sabotage[] = [
  {
    name: 'in-flight-forgotten',
    fault: 'the undo skips the change whose answer was lost',
    edits: [
      {
        file: 'hooks/transactions/model/item.ts',
        find: 'const due = items.flatMap((item, index) => (isToUndo(item) &&',
        replace: "const due = items.flatMap((item, index) => (item.progress.kind === 'applied' &&",
      },
    ],
    caughtBy: ['test/hooks/transactions/due.test.ts'],
  },
  {
    name: 'next-not-announced',
    fault: 'the next change is sent before a stored status announces it: after a crash nobody knows of it',
    edits: [
      {
        file: 'hooks/transactions/due.ts',
        find: "const index = stored.status.items.findIndex(({ progress }) => progress.kind === 'announced');",
        replace:
          "const index = stored.status.items.findIndex(({ progress }) => progress.kind === 'announced' || progress.kind === 'prepared');",
      },
    ],
    caughtBy: ['test/hooks/transactions/due.test.ts'],
  },
  {
    name: 'not-announced-before',
    fault: 'a call continues with a change that only its own running status announces (V1)',
    edits: [
      {
        file: 'hooks/transactions/decide/window.ts',
        find: '&& isAnnounced(stored, next.index);',
        replace: '&& isAnnounced(running, next.index);',
      },
    ],
    caughtBy: ['test/hooks/transactions/decide/window.test.ts'],
  },
  {
    name: 'on-after-trouble',
    fault: 'a call continues after a change that failed, or that must be stored first (V2)',
    edits: [
      {
        file: 'hooks/transactions/decide/window.ts',
        find: "return (isApplied(due, running) || due.kind === 'await') &&",
        replace: "return (due.kind === 'apply' || due.kind === 'await') &&",
      },
    ],
    caughtBy: ['test/hooks/transactions/decide/window.test.ts'],
  },
  {
    name: 'lock-not-looked-at',
    fault: 'a change is made without a check that its lock is still held',
    edits: [
      {
        file: 'hooks/transactions/decide/guards.ts',
        find: "return state === 'ours' ? { kind: 'clear'",
        replace: "return state !== undefined ? { kind: 'clear'",
      },
    ],
    caughtBy: ['test/hooks/transactions/decide/decide.test.ts'],
  },
  {
    name: 'takeover-unconditional',
    fault: 'two Transactions that find a lock expired both take it',
    edits: [
      {
        file: 'hooks/transactions/decide/locks.ts',
        find: "return create.length + replace.length === 0 ? { kind: 'acquired' } : { kind: 'acquire', create, replace };",
        replace: "return create.length === 0 ? { kind: 'acquired' } : { kind: 'acquire', create, replace };",
      },
    ],
    caughtBy: ['test/hooks/transactions/decide/locks.test.ts'],
  },
  {
    name: 'locks-unordered',
    fault: 'locks are acquired in the order of the changes: two Transactions wait for each other',
    edits: [
      {
        file: 'hooks/transactions/observe/begin.ts',
        find: 'const locks = [...wanted].sort((left, right) => (left.name < right.name ? -1 : 1));',
        replace: 'const locks = [...wanted];',
      },
    ],
    caughtBy: ['test/scenarios/locks/contention.test.ts'],
  },
  {
    name: 'local-clock',
    fault: 'locks follow the clock of the process, not the API server’s',
    edits: [
      {
        file: 'server/kubernetes/transport.ts',
        find: 'const serverTime = Date.parse(String(headers.date));',
        replace: 'const serverTime = Date.now();',
      },
    ],
    caughtBy: ['test/scenarios/locks/server-time.test.ts'],
  },
  {
    name: 'release-of-anybodys',
    fault: 'locks are released without a check of their holder',
    edits: [
      {
        file: 'hooks/transactions/observe/read.ts',
        find: 'objects: listed.items.filter(isOurs) }',
        replace: 'objects: listed.items.filter((lease) => isOurs(lease) || true) }',
      },
    ],
    caughtBy: ['test/scenarios/locks/lost-locks.test.ts'],
  },
  {
    name: 'version-not-raised',
    fault: 'the version in the status does not grow: a late answer undoes progress',
    edits: [
      {
        file: 'hooks/transactions/outcome/status.ts',
        find: 'before.version + 1 : before.version,',
        replace: 'Math.max(1, before.version) : before.version,',
      },
    ],
    caughtBy: ['test/hooks/transactions/outcome/status.test.ts'],
  },
  {
    name: 'body-trusted',
    fault: 'the engine evaluates the status in the body of a call, not the stored one',
    edits: [
      {
        file: 'hooks/transactions/observe/live.ts',
        find: 'const answer = await reader.get({ resource: transactions, namespace, name }, engine);',
        replace:
          "const answer = await reader.get({ resource: transactions, namespace, name }, engine);\n  if (answer.kind === 'ok') answer.object.status = told;",
      },
      {
        file: 'hooks/transactions/observe/live.ts',
        find: '{ namespace, name, uid }: Pick',
        replace: '{ namespace, name, uid, status: told }: Pick',
      },
    ],
    caughtBy: ['test/scenarios/calls/duplicates.test.ts'],
  },
  {
    name: 'lost-is-definitive',
    fault: 'an answer that was lost counts as proof that nothing happened',
    edits: [
      {
        file: 'server/kubernetes/failures.ts',
        find: "return { kind: 'transient', code, reason, message, fields: [], definitive: false };",
        replace: "return { kind: 'transient', code, reason, message, fields: [], definitive: true };",
      },
    ],
    caughtBy: ['test/server/kubernetes/failures.test.ts'],
  },
  {
    name: 'name-used-again',
    fault: 'a process continues under a name that an answer has called settled (W1)',
    edits: [{ file: 'hooks/transactions/in-flight/in-flight.ts', find: 'ownWrites.isOpen && writer', replace: 'writer' }],
    caughtBy: ['test/hooks/transactions/decide/decide.test.ts'],
  },
  {
    name: 'no-turn-taken',
    fault: 'a process changes a target under the name of another (W2)',
    edits: [
      {
        file: 'hooks/transactions/decide/committing.ts',
        find: '(takeTurn(observation, view) ?? decideChange(observation, view, guarded))',
        replace: 'decideChange(observation, view, guarded)',
      },
    ],
    caughtBy: ['test/hooks/transactions/decide/decide.test.ts', 'test/scenarios/calls/late-writes.test.ts'],
  },
  {
    name: 'writer-unread',
    fault: 'the undo treats every writer as settled (W3)',
    edits: [
      {
        file: 'hooks/transactions/in-flight/in-flight.ts',
        find: 'return writer !== undefined && (writer === status.settledWriter || writer === ownWrites.writer);',
        replace: 'return writer !== undefined || ownWrites.isOpen || status.version < 0;',
      },
    ],
    caughtBy: ['test/hooks/transactions/decide/decide.test.ts', 'test/scenarios/calls/late-writes.test.ts'],
  },
  {
    name: 'replaced-writer-forgotten',
    fault: 'the undo does not wait for a replaced writer (W4)',
    edits: [
      {
        file: 'hooks/transactions/in-flight/in-flight.ts',
        find: 'return endOf(Math.max(settled ? 0 : (observed ?? 0), unsettledAt(traces) ?? 0), lateWindow);',
        replace: 'return endOf(settled ? 0 : (observed ?? 0), lateWindow);',
      },
    ],
    caughtBy: ['test/hooks/transactions/in-flight.test.ts'],
  },
  {
    name: 'not-fenced',
    fault: 'a write in flight can land if the undo writes nothing (W5)',
    edits: [
      {
        file: 'hooks/transactions/decide/rolling-back.ts',
        find: 'const safe = isFenced(evidence, due) ? verdict : fenced(',
        replace: 'const safe = isFenced(evidence, due) || evidence !== undefined ? verdict : fenced(',
      },
    ],
    caughtBy: ['test/hooks/transactions/decide/decide.test.ts', 'test/scenarios/calls/late-writes.test.ts'],
  },
  {
    name: 'withdrawn-unseen',
    fault: 'a change is taken for never sent although another process may have fenced its target (W6)',
    edits: [
      {
        file: 'hooks/transactions/in-flight/in-flight.ts',
        find: 'isSettled(traces) && fencedUntil(traces, 0) === 0 &&',
        replace: 'isSettled(traces) && unsettledAt(traces) === undefined &&',
      },
    ],
    caughtBy: ['test/hooks/transactions/in-flight.test.ts'],
  },
];
