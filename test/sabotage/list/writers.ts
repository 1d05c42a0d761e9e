// Who may have written, and what an undo may rely on (W1 to W6, hooks/in-flight/in-flight.ts).
import type { Sabotage } from '../sabotage.ts';

const inFlight = 'hooks/in-flight/in-flight.ts';
const rollingBack = 'hooks/decide/rolling-back.ts';
const decideTests = 'test/hooks/decide/decide.test.ts';
const replicas = 'test/scenarios/calls/replicas.test.ts';
const lateWrites = 'test/scenarios/calls/late-writes.test.ts';

export const writers: readonly Sabotage[] = [
  {
    name: 'locks-of-another-version',
    fault: 'locks count although they were read before the state of the Transaction was stored',
    edits: [
      {
        file: 'hooks/observe/look.ts',
        find: '  const live = await',
        replace: '  const early = readOwnLeases(reader, wanted, engineNamespace);\n  const live = await',
      },
      {
        file: 'hooks/observe/look.ts',
        find: 'readOwnLeases(reader, live.transaction, engineNamespace))',
        replace: 'early)',
      },
    ],
    caughtBy: ['test/scenarios/changes/optimistic-applies.test.ts'],
  },
  {
    name: 'name-used-again',
    fault: 'a process continues under a name that an answer has called settled (W1)',
    edits: [{ file: 'hooks/in-flight/in-flight.ts', find: 'ownWrites.isOpen && writer', replace: 'writer' }],
    caughtBy: [decideTests],
  },
  {
    name: 'no-turn-taken',
    fault: 'a process changes a target under the name of another (W2)',
    edits: [
      {
        file: 'hooks/decide/committing.ts',
        find: '(takeTurn(observation, view) ?? decideChange(observation, view, guarded))',
        replace: 'decideChange(observation, view, guarded)',
      },
    ],
    caughtBy: [decideTests, lateWrites],
  },
  {
    name: 'writer-unread',
    fault: 'the undo treats every writer as settled (W3)',
    edits: [
      {
        file: inFlight,
        find: 'return writer !== undefined && (writer === status.settledWriter || writer === ownWrites.writer);',
        replace: 'return writer !== undefined || ownWrites.isOpen || status.version < 0;',
      },
    ],
    caughtBy: [decideTests, lateWrites],
  },
  {
    name: 'lost-answer-forgotten',
    fault: 'an answer calls its writer settled although only an earlier, lost answer recorded its writes (W3)',
    edits: [{ file: inFlight, find: 'const isSent = index <= sentUpTo ||', replace: 'const isSent = index < 0 ||' }],
    caughtBy: ['test/scenarios/calls/lost-replies.test.ts'],
  },
  {
    name: 'unstored-record-believed',
    fault: 'a process treats its memory as stored (W3)',
    edits: [
      {
        file: inFlight,
        find: 'fencedUntil(traces, 0) === 0 && isRecorded(traces.status, traces.ownWrites)',
        replace: 'fencedUntil(traces, 0) === 0',
      },
    ],
    caughtBy: ['test/hooks/in-flight.test.ts', 'test/scenarios/calls/lost-replies.test.ts'],
  },
  {
    name: 'replaced-writer-forgotten',
    fault: 'the undo does not wait for a replaced writer (W4)',
    edits: [
      {
        file: inFlight,
        find: 'return endOf(Math.max(settled ? 0 : (observed ?? 0), unsettledAt(traces) ?? 0), lateWindow);',
        replace: 'return endOf(settled ? 0 : (observed ?? 0), lateWindow);',
      },
    ],
    caughtBy: ['test/hooks/in-flight.test.ts'],
  },
  {
    name: 'nobody-spoken-for',
    fault: 'no answer calls its writer settled: every undo by another replica waits',
    edits: [{ file: inFlight, find: '...(isOurs ? { settledWriter: writer } : {}),', replace: '...(isOurs ? {} : {}),' }],
    caughtBy: [replicas],
  },
  {
    name: 'waited-for-anew',
    fault: 'each process waits for its own time',
    edits: [
      {
        file: 'hooks/decide/undo-transitions.ts',
        find: 'return { ...status, rollbackObservedAt: now };',
        replace: 'return { ...status, rollbackObservedAt: undefined as unknown as number, unsettledAt: now };',
      },
    ],
    caughtBy: [replicas],
  },
  {
    name: 'not-fenced',
    fault: 'a write in flight can land if the undo writes nothing (W5)',
    edits: [
      {
        file: rollingBack,
        find: 'const safe = isFenced(evidence, due) ? verdict : fenced(',
        replace: 'const safe = isFenced(evidence, due) || evidence !== undefined ? verdict : fenced(',
      },
    ],
    caughtBy: [decideTests, lateWrites],
  },
  {
    name: 'not-fenced-after-the-window',
    fault: 'a fence of an undo lands after its Transaction has ended, and its mark stays (W6)',
    edits: [
      {
        file: rollingBack,
        find: 'fencedUntil: fencedUntil({ status, ownWrites }, lateWindow)',
        replace: 'fencedUntil: now > until ? 0 : until',
      },
    ],
    caughtBy: [decideTests, lateWrites],
  },
  {
    name: 'withdrawn-unseen',
    fault: 'a change is taken for never sent although another process may have fenced its target (W6)',
    edits: [
      {
        file: inFlight,
        find: 'isSettled(traces) && fencedUntil(traces, 0) === 0 &&',
        replace: 'isSettled(traces) && unsettledAt(traces) === undefined &&',
      },
    ],
    caughtBy: ['test/hooks/in-flight.test.ts'],
  },
  {
    name: 'read-after-the-look',
    fault: 'a change names a version that was read after the Transaction (W5)',
    edits: [
      { file: 'hooks/decide/committing.ts', find: "liveFrom === 'now' && isSent", replace: "liveFrom === 'earlier' && !isSent" },
    ],
    caughtBy: [decideTests],
  },
  {
    name: 'first-create-forgotten',
    fault: 'the undo of a creation does not wait for a first attempt that may still land',
    edits: [
      {
        file: rollingBack,
        find: "if (isOver || type !== 'Create' ||",
        replace: "if (isOver || type !== 'Patch' ||",
      },
    ],
    caughtBy: [decideTests, lateWrites],
  },
  {
    name: 'stuck-undo-blocks',
    fault: 'a change whose undo waits blocks the undo of the others',
    edits: [
      {
        file: 'hooks/model/item.ts',
        find: 'due.findLast((index) => items[index]?.waiting === undefined)',
        replace: 'due.at(-1)',
      },
    ],
    caughtBy: ['test/hooks/due.test.ts', 'test/scenarios/undo/blocked-changes.test.ts'],
  },
  {
    name: 'denial-taken-for-stale',
    fault: 'a write that a webhook denies with 404 or 409 is retried for ever',
    edits: [
      { file: 'hooks/outcome/refused.ts', find: 'refused.times < enough(refused.failure)', replace: 'refused.times < 1_000' },
    ],
    caughtBy: ['test/scenarios/undo/blocked-changes.test.ts'],
  },
  {
    name: 'retry-after-unheard',
    fault: 'the engine ignores Retry-After',
    edits: [{ file: 'hooks/perform/deadline.ts', find: 'answer.failure.retryAfterSeconds ?? 0', replace: '0' }],
    caughtBy: ['test/scenarios/calls/retry-after.test.ts'],
  },
  {
    name: 'mark-outlives-its-transaction',
    fault: 'the mark of a process that fenced an object and died stays when the Transaction is deleted',
    edits: [
      {
        file: 'hooks/model/entries.ts',
        find: "const isUnrecorded = 'applied' in progress && !progress.applied;",
        replace: "const isUnrecorded = 'applied' in progress && !progress.applied && progress.kind === 'notRestored';",
      },
    ],
    caughtBy: ['test/scenarios/calls/late-marks.test.ts', 'test/hooks/due.test.ts'],
  },
  {
    name: 'mark-comes-back',
    fault: 'an undo brings back the mark of another Transaction, which its snapshot holds',
    edits: [
      {
        file: 'hooks/content/ownership.ts',
        find: '.union(back).difference(fenceFields) :',
        replace: '.union(back).difference(noFields) :',
      },
    ],
    caughtBy: ['test/scenarios/calls/late-marks.test.ts'],
  },
  {
    name: 'window-forgotten-at-the-end',
    fault: 'with the Leases goes the time at which the late window began: nobody looks for marks at the deletion',
    edits: [
      {
        file: 'hooks/in-flight/in-flight.ts',
        find: 'const begun = lastBegun(traces);',
        replace: 'const begun = unsettledAt(traces) ?? 0;',
      },
    ],
    caughtBy: ['test/hooks/in-flight.test.ts'],
  },
];
