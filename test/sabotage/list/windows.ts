// Many changes in one call: what must be stored before anything follows (V1 to V4, hooks/decide/window.ts).
import type { Sabotage } from '../sabotage.ts';

const window = 'hooks/decide/window.ts';
const windowTests = ['test/hooks/decide/window.test.ts'];
const windows = ['test/scenarios/calls/windows.test.ts'];

export const inWindows: readonly Sabotage[] = [
  {
    name: 'not-announced-before',
    fault: 'a call continues with a change that only its own running status announces (V1)',
    edits: [{ file: window, find: '&& isAnnounced(stored, next.index);', replace: '&& isAnnounced(running, next.index);' }],
    caughtBy: windowTests,
  },
  {
    name: 'on-after-trouble',
    fault: 'a call continues after a change that failed, or that must be stored first (V2)',
    edits: [
      {
        file: window,
        find: "return (isApplied(due, running) || due.kind === 'await') &&",
        replace: "return (due.kind === 'apply' || due.kind === 'await') &&",
      },
    ],
    caughtBy: windowTests,
  },
  {
    name: 'undone-before-stored',
    fault: 'an undo continues in the call that begins it (V3)',
    edits: [{ file: window, find: " &&\n        stored.phase === 'RollingBack'", replace: '' }],
    caughtBy: windowTests,
  },
  {
    name: 'let-go-before-stored',
    fault:
      'the call that applied changes releases them if the Transaction is deleted meanwhile, before it is stored that they were applied (V3)',
    edits: [{ file: window, find: "isLettingGo && (after === 'apply' || after === 'await');", replace: 'false;' }],
    caughtBy: ['test/hooks/outcome/result.test.ts'],
  },
  {
    name: 'announcement-taken-back',
    fault: 'the status that begins an undo says that announced changes were never sent (V4)',
    edits: [
      {
        file: 'hooks/decide/undo-transitions.ts',
        find: '  const { completedAt: _ended, undo: _answered, ...running } = started;',
        replace: '  const { completedAt: _ended, undo: _answered, ...running } = withdrawn(started);',
      },
    ],
    caughtBy: windows,
  },
  {
    name: 'refused-is-unsent',
    fault: 'a change that was refused here is taken for never made, also by other replicas',
    edits: [
      {
        file: 'hooks/decide/undo-transitions.ts',
        find: '({ ...item, error: plain(cause) }));',
        replace: "({ ...item, error: plain(cause), progress: { kind: 'restored', applied: false } }));",
      },
    ],
    caughtBy: windows,
  },
  {
    name: 'ahead-while-late',
    fault: 'an undo relies on what it read while a write could still land',
    edits: [{ file: 'hooks/looking.ts', find: "until !== 'unobserved' && now > until && pace", replace: 'pace' }],
    caughtBy: windows,
  },
  {
    name: 'overtaken-unnoticed',
    fault: 'a call continues from its running status although another engine has stored one meanwhile',
    edits: [
      {
        file: 'hooks/looking.ts',
        find: 'seen.status.version !== ended.completed.found.version;',
        replace: 'seen.status.version < ended.completed.found.version;',
      },
    ],
    caughtBy: windows,
  },
  {
    name: 'window-without-looks',
    fault: 'a call looks at the Transaction once, however long it takes',
    edits: [
      {
        file: 'hooks/looking.ts',
        find: 'nowAt < look.lookedAt + (timing.lookAge ?? 0))',
        replace: 'nowAt < look.lookedAt + (timing.lookAge ?? 0) + 60_000)',
      },
      {
        file: 'hooks/looking.ts',
        find: '(timing.lookAge ?? Number.POSITIVE_INFINITY)',
        replace: '(timing.lookAge ?? 0) + 60_000',
      },
    ],
    caughtBy: windows,
  },
  {
    name: 'sends-on-an-old-look',
    fault: 'a change is sent although the Transaction has moved while its target was looked at',
    edits: [
      {
        file: 'hooks/looking.ts',
        find: 'live.transaction.resourceVersion !== transaction.resourceVersion',
        replace: 'live.transaction.resourceVersion === ""',
      },
    ],
    caughtBy: windows,
  },
  {
    name: 'ends-later',
    fault: 'a process that is ending starts with further targets',
    edits: [{ file: 'hooks/sync.ts', find: 'isEnding?.() === true || ', replace: '' }],
    caughtBy: windows,
  },
  {
    name: 'budget-of-a-second',
    fault: 'a call of a second by default: under load its queueing takes as long, and each call handles one target',
    edits: [{ file: 'server/config.ts', find: "duration('5s', '10s')", replace: "duration('1s', '10s')" }],
    caughtBy: ['test/server/config.test.ts'],
  },
  {
    name: 'all-deletes-announced',
    fault: 'all Deletes are announced at once',
    edits: [{ file: window, find: 'const mostDeletes = 8;', replace: 'const mostDeletes = 500;' }],
    caughtBy: windowTests,
  },
  {
    name: 'lagging-is-final',
    fault: 'a refusal because of a lagging cache is final',
    edits: [
      { file: 'hooks/outcome/lagging.ts', find: 'const pause = pauses[tries];', replace: 'const pause = pauses[tries + 9];' },
    ],
    caughtBy: windows,
  },
  {
    name: 'facts-thrown-away',
    fault: 'the changes of a call are not recorded if the Transaction cannot be read again',
    edits: [
      {
        file: 'hooks/sync.ts',
        find: "return live.kind === 'unreadable' && ended !== undefined",
        replace: "return live.kind === 'gone' && ended !== undefined",
      },
    ],
    caughtBy: windows,
  },
  {
    name: 'snapshot-of-another-spec',
    fault: 'a snapshot that was stored for another spec is adopted',
    edits: [
      {
        file: 'hooks/snapshots/objects.ts',
        find: "return JSON.stringify(['snapshot', uid, base, specDigest, parts]);",
        replace: "return JSON.stringify(['snapshot', uid, base, specDigest.length, parts]);",
      },
    ],
    caughtBy: ['test/hooks/snapshots/codec.test.ts'],
  },
];
