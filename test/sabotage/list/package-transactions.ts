// Package transactions: who holds the Lock, in which order stages come and go, and what is believed on the way.
import type { Edit, Sabotage } from '../sabotage.ts';

const caughtBy = ['test/packages/decide.test.ts'];
const entry = (name: string, fault: string, edit: Edit): Sabotage => ({ name, fault, edits: [edit], caughtBy });
const hook = (file: string): string => `hooks/packages/${file}.ts`;

export const packageTransactions: readonly Sabotage[] = [
  entry('ptx-lock-shared', 'the Lock is taken from a holder that exists', {
    file: hook('decide/waiting'),
    find: 'if (holder === undefined) return taking(',
    replace: 'if (holder?.uid !== ptx.uid) return taking(',
  }),
  entry('ptx-release-by-a-stranger', 'the Lock is released by one that does not hold it', {
    file: hook('decide/ending'),
    find: 'const deeds = holds(ptx, lock) ?',
    replace: 'const deeds = lock !== undefined ?',
  }),
  entry('ptx-number-twice', 'the number of a holder is given again', {
    file: hook('model/holder'),
    find: "count(annotationOf(lock, 'number'), 0) + 1",
    replace: "count(annotationOf(lock, 'number'), 0) + 0",
  }),
  entry('ptx-takeover-at-once', 'the Lock of a holder that is gone is taken while its requests may be late', {
    file: hook('decide/waiting'),
    find: 'if (settled === 0 || ptx.status.settledHolder !== settledHolder) {',
    replace: 'if (settled < 0) {',
  }),
  entry('ptx-takeover-settled-before', 'of two holders that go one after the other only the first is waited for', {
    file: hook('decide/waiting'),
    find: 'ptx.status.settledTime === undefined',
    replace: 'ptx.status.settledTime !== ptx.uid',
  }),
  entry('ptx-takeover-unseen', 'a holder that came and went between two calls is taken for the one before it', {
    file: hook('decide/waiting'),
    find: ' || ptx.status.settledHolder !== settledHolder)',
    replace: ')',
  }),
  entry('ptx-takeover-with-its-stages', 'stages of a holder that is gone are left as they are', {
    file: hook('decide/waiting'),
    find: 'holder.hasWritten ? undefined : undoingOf(',
    replace: '!holder.hasWritten ? undefined : undoingOf(',
  }),
  entry('ptx-takeover-litter', 'stages and contents of a holder that is gone stay for ever', {
    file: hook('decide/waiting'),
    find: 'if (scene.leftovers.length > 0) return',
    replace: 'if (scene.leftovers.length < 0) return',
  }),
  entry('ptx-source-under-one-digest', 'a stage names all of its contents by one digest', {
    file: hook('plan/contents'),
    find: "digest: digestOfText(items[index]?.text ?? '')",
    replace: 'digest: contents.digest',
  }),
  entry('ptx-source-named-by-stage', 'contents made of other live objects have the name of those before', {
    file: hook('plan/contents'),
    find: "hashedName('ptx', stage, contents.digest)",
    replace: "hashedName('ptx', stage)",
  }),
  entry('ptx-values-unbounded', 'a stage can hold more values than the engine reads', {
    file: hook('plan/contents'),
    find: 'sum(({ values }) => values) > most.values',
    replace: 'sum(({ values }) => values) < 0',
  }),
  entry('ptx-undo-first-to-last', 'stages are rolled back in the order in which they were made', {
    file: hook('decide/undo'),
    find: 'found.find((one)',
    replace: 'found.findLast((one)',
  }),
  entry('ptx-lock-edit-unseen', 'packages of the Lock that somebody edits are written over', {
    file: hook('decide/preparing'),
    find: '&& packagesDigest(lock) === ptx.status.lockDigest',
    replace: '&& packagesDigest(lock) !== ptx.name',
  }),
  entry('ptx-preparing-for-ever', 'a registry that never answers in time keeps the Lock for ever', {
    file: hook('decide/preparing'),
    find: "(status.phase === 'Preparing' ? 2 : 1) * longestReading;",
    replace: 'now + 1;',
  }),
  entry('ptx-contents-believed', 'contents of a stage are not compared with their digest', {
    file: hook('plan/contents'),
    find: 'if (digestOfText(list) !== digest)',
    replace: 'if (digest === list)',
  }),
  entry('ptx-written-lock-undone', 'a try whose Lock is written, but whose answer was lost, is rolled back', {
    file: hook('decide/verifying'),
    find: 'holderOf(lock)?.hasWritten === true',
    replace: 'holderOf(lock)?.name === undefined',
  }),
  entry('ptx-late-create', 'a stage is deleted while a request that creates it again may be late', {
    file: hook('decide/ending'),
    find: 'const kept = isDeleting ? late : keptFor;',
    replace: 'const kept = isDeleting ? late - late : keptFor;',
  }),
  entry('ptx-late-stage-runs', 'the name of a stage that was announced is free during and after the rollback', {
    file: hook('decide/rolling-back'),
    find: "(index >= made || phase !== 'RollingBack')",
    replace: "(index < 0 || phase === 'Waiting')",
  }),
  entry(
    'ptx-kept-too-short',
    'stages of a finished package transaction go while a process that is stopped may create them again',
    {
      file: hook('decide/ending'),
      find: 'const kept = isDeleting ? late : keptFor;',
      replace: 'const kept = isDeleting ? late : late;',
    },
  ),
  entry('ptx-owners-pile-up', 'every package transaction stays an owner of what a later one made', {
    file: hook('plan/owners'),
    find: '!isPackageTransaction(owner) && ',
    replace: '',
  }),
  entry('ptx-two-controllers', 'the former revision keeps control', {
    file: hook('plan/owners'),
    find: "at(owner, 'controller') === true ? { ...owner, controller: false }",
    replace: "at(owner, 'controller') === 7 ? { ...owner, controller: false }",
  }),
  entry('ptx-dependencies-last', 'a package is installed before what it requires', {
    file: hook('plan/changed'),
    find: 'return order.flatMap((one)',
    replace: 'return order.toReversed().flatMap((one)',
  }),
  {
    name: 'ptx-look-forgotten',
    fault: 'each call begins to look from the start, so that a large package never ends',
    edits: [{ file: hook('observe/progress'), find: 'known?.look === look ?', replace: 'known?.look === uid ?' }],
    caughtBy: ['test/packages/progress.test.ts'],
  },
  {
    name: 'ptx-look-of-another-try',
    fault: 'what one try has found in order counts for the next one',
    edits: [{ file: hook('observe/progress'), find: 'known?.look === look ?', replace: 'known !== undefined ?' }],
    caughtBy: ['test/packages/progress.test.ts'],
  },
  {
    name: 'ptx-fault-remembered',
    fault: 'what is wrong is looked at once, and then counts as in order',
    edits: [
      { file: hook('observe/progress'), find: 'if (faults.length === 0) progress', replace: 'if (faults.length >= 0) progress' },
    ],
    caughtBy: ['test/packages/progress.test.ts'],
  },
  {
    name: 'ptx-label-from-status',
    fault: 'a label of a metric is whatever a status says',
    edits: [
      {
        file: 'server/telemetry/package-metrics.ts',
        find: "(tryReasons.find((one) => one === reason) ?? 'Other')",
        replace: "(reason ?? 'Other')",
      },
    ],
    caughtBy: ['test/server/telemetry/package-metrics.test.ts'],
  },
  {
    name: 'ptx-storage-moved',
    fault: 'a storage version moves although there are objects, and nobody has allowed it',
    edits: [
      {
        file: 'hooks/packages/observe/dry-run.ts',
        find: 'if (found.length === 0) return [];',
        replace: 'if (found.length >= 0) return [];',
      },
    ],
    caughtBy: ['test/packages/install.test.ts'],
  },
  {
    name: 'ptx-irreversible-allowed',
    fault: 'stages may do what cannot be undone, although nobody has allowed it',
    edits: [{ file: 'hooks/packages/plan/stages.ts', find: 'mayBreak(ptx) ?', replace: '!mayBreak(ptx) ?' }],
    caughtBy,
  },
  {
    name: 'package-stage-that-did-nothing',
    fault: 'a stage that failed before it applied anything counts as one that could not be undone',
    edits: [
      {
        file: 'hooks/packages/decide/undo.ts',
        find: "return phase === 'RolledBack' || (phase === 'Failed' && !(isList(items) ? items : []).some(mayBeLeft));",
        replace:
          "return phase === 'RolledBack' || (items === null && [items].some((one) => isList(one) && one.some(mayBeLeft)));",
      },
    ],
    caughtBy: ['test/packages/decide.test.ts'],
  },
  {
    name: 'package-late-lock',
    fault: 'the Lock is not fenced before a rollback: a late write lists what is rolled back',
    edits: [
      {
        file: 'hooks/packages/decide/verifying.ts',
        find: 'const deeds = [{ write: fenceLock(lock, timeOf(now), namespace) }];',
        replace: 'const deeds = now < 0 ? [{ write: fenceLock(lock, timeOf(now), namespace) }] : [];',
      },
    ],
    caughtBy: ['test/packages/decide.test.ts'],
  },
  {
    name: 'package-late-call',
    fault: 'a call that has stalled sends its writes though others believe that it is gone',
    edits: [
      {
        file: 'hooks/packages/perform/perform.ts',
        find: 'if (isLate()) return { writes, failure: outOfTime };',
        replace: 'if (isLate() && deeds.length === 0) return { writes, failure: outOfTime };',
      },
    ],
    caughtBy: ['test/packages/decide.test.ts'],
  },
  {
    name: 'package-of-another-source',
    fault: 'a package replaces one of another registry that has its name',
    edits: [
      {
        file: 'hooks/packages/checks/names.ts',
        find: 'if (live === source) return [];',
        replace: "if (live !== '') return [];",
      },
    ],
    caughtBy: ['test/packages/decide.test.ts'],
  },
  {
    name: 'package-of-another-kind',
    fault: 'a source that is installed as another kind is installed beside itself',
    edits: [
      {
        file: 'hooks/packages/checks/names.ts',
        find: 'if (installed === undefined || installed === kind) return [];',
        replace: "if (installed === undefined || installed !== '') return [];",
      },
    ],
    caughtBy: ['test/packages/decide.test.ts'],
  },
  {
    name: 'package-number-guessed',
    fault: 'where the next number on the Lock cannot be read, numbers begin again with 1',
    edits: [
      {
        file: 'hooks/packages/decide/waiting.ts',
        find: 'const message = numberFault(lock);',
        replace: 'const message = numberFault({});',
      },
    ],
    caughtBy: ['test/packages/decide.test.ts'],
  },
  {
    name: 'package-stage-requested-once',
    fault: 'a stage whose rollback the engine refused is not requested again',
    edits: [
      {
        file: 'hooks/packages/decide/undo.ts',
        find: "const isRefused = isHandled && phaseOf(stage) === 'Committed';",
        replace: "const isRefused = isHandled && phaseOf(stage) === 'Failed';",
      },
    ],
    caughtBy: ['test/packages/decide.test.ts'],
  },
  {
    name: 'package-last-owner',
    fault: 'a package transaction goes while an installed object has no other owner',
    edits: [
      {
        file: 'hooks/packages/decide/owners.ts',
        find: 'if (orphans.length === 0) return move;',
        replace: 'if (orphans.length >= 0) return move;',
      },
    ],
    caughtBy: ['test/packages/living.test.ts'],
  },
  {
    name: 'package-applied-again',
    fault: 'a Package that was applied again is not the owner under its new uid',
    edits: [{ file: 'hooks/packages/plan/living.ts', find: '[{ ...owner, uid }]', replace: '[owner]' }],
    caughtBy: ['test/packages/living.test.ts'],
  },
  {
    name: 'package-contents-bomb',
    fault: 'each object of a ConfigMap is bounded when it is unpacked, all of them together are not',
    edits: [{ file: 'hooks/packages/plan/contents.ts', find: 'rest -= text.length;', replace: 'rest -= 0;' }],
    caughtBy: ['test/packages/decide.test.ts'],
  },
  {
    name: 'package-status-of-newer-version',
    fault: 'a phase that this version does not know counts as Waiting',
    edits: [
      { file: 'hooks/packages/sync.ts', find: 'if (ptx.isKnown) return act(', replace: 'if (ptx.uid !== undefined) return act(' },
    ],
    caughtBy: ['test/packages/decide.test.ts'],
  },
  {
    name: 'package-retry-deletes-early',
    fault: 'a retry deletes a stage of which a late request creates another one',
    edits: [
      {
        file: 'hooks/packages/observe/leftovers.ts',
        find: 'isOlder(one, keptFor, now) && !isUnderDeletion',
        replace: 'isOlder(one, 0, now) && !isUnderDeletion',
      },
    ],
    caughtBy: ['test/packages/decide.test.ts'],
  },
  {
    name: 'package-late-stage-forgotten',
    fault: 'the rollback does not look for the stage that was announced, once an earlier one is undone',
    edits: [
      {
        file: 'hooks/packages/model/status.ts',
        find: 'return Math.max(made, committed) + 1;',
        replace: 'return Math.max(made, committed - committed) + 1;',
      },
    ],
    caughtBy: ['test/packages/decide.test.ts'],
  },
  {
    name: 'package-object-replaced',
    fault: 'a package object of another source, created after the validation, is replaced',
    edits: [
      {
        file: 'hooks/packages/observe/establishing.ts',
        find: 'if (taken !== undefined) return taken.message;',
        replace: 'if (taken === undefined && live === null) return taken;',
      },
    ],
    caughtBy: ['test/packages/decide.test.ts'],
  },
  {
    name: 'package-number-twice',
    fault: 'the number of a holder whose name somebody took away is given again',
    edits: [
      {
        file: 'hooks/packages/model/holder.ts',
        find: "const next = Math.max(nextNumberOf(lock), count(annotationOf(lock, 'number'), 0) + 1);",
        replace: 'const next = Math.max(nextNumberOf(lock), (holderOf(lock)?.number ?? 0) + 1);',
      },
    ],
    caughtBy: ['test/packages/decide.test.ts'],
  },
  {
    name: 'package-without-room',
    fault: 'a package of a few kB fills the memory of the hook',
    edits: [{ file: 'hooks/packages/observe/members.ts', find: 'room.left -= valuesIn(object);', replace: 'room.left -= 1;' }],
    caughtBy: ['test/packages/decide.test.ts'],
  },
  {
    name: 'package-takes-the-processor',
    fault: 'nothing bounds how many constraints a resolution checks',
    edits: [
      {
        file: 'hooks/packages/resolve/knowledge.ts',
        find: 'export const mostChecks = 5_000_000;',
        replace: 'export const mostChecks = 5_000_000_000;',
      },
    ],
    caughtBy: ['test/packages/resolve.test.ts'],
  },
  {
    name: 'package-tries-are-free',
    fault: 'what a package requires makes the hook try versions for minutes',
    edits: [
      {
        file: 'hooks/packages/resolve/problem.ts',
        find: '  problem.knowledge.spend([...dependencies.values()].reduce((sum, all) => sum + all.length, 0));\n',
        replace: '',
      },
    ],
    caughtBy: ['test/packages/resolve.test.ts'],
  },
  {
    name: 'package-compares-again',
    fault: 'a comparison that is longer than a call begins again in each, for ever',
    edits: [
      {
        file: 'hooks/packages/observe/comparison.ts',
        find: 'if (found.length === 0) progress.add(one.name);',
        replace: '',
      },
    ],
    caughtBy: ['test/packages/decide.test.ts'],
  },
  {
    name: 'package-looks-first',
    fault: 'a package transaction that is deleted waits for objects that cannot be read',
    edits: [
      {
        file: 'hooks/packages/sync.ts',
        find: 'const isToLook = !ptx.isDeleting && ',
        replace: 'const isToLook = ',
      },
    ],
    caughtBy: ['test/packages/hook.test.ts'],
  },
  {
    name: 'package-guesses-numbers',
    fault: 'a number that cannot be read is replaced by one that others may have',
    edits: [
      {
        file: 'hooks/packages/model/holder.ts',
        find: 'return numberFault(lock) === undefined ? ',
        replace: 'return numberFault(lock) !== null ? ',
      },
    ],
    caughtBy: ['test/packages/decide.test.ts'],
  },
  {
    name: 'package-throws-for-ever',
    fault: 'what throws keeps a try, and the Lock, beyond its time',
    edits: [
      {
        file: 'hooks/packages/sync.ts',
        find: 'const move = withoutCluster(scene, failureOf(error));',
        replace: 'const move = error instanceof Unread ? withoutCluster(scene, failureOf(error)) : undefined;',
      },
    ],
    caughtBy: ['test/packages/hook.test.ts'],
  },
  {
    name: 'package-impossible-name',
    fault: 'a package with an object whose name no object can have holds the Lock for ever',
    edits: [
      {
        file: 'hooks/packages/observe/reading.ts',
        find: " || answer.failure.reason === 'InvalidName'",
        replace: '',
      },
    ],
    caughtBy: ['test/packages/decide.test.ts'],
  },
  {
    name: 'package-name-unread',
    fault: 'the name of the package object is not looked at before something is made',
    edits: [
      {
        file: 'hooks/packages/model/package-transaction.ts',
        find: 'if (!nameForm.test(name) || name.length > longestName)',
        replace: 'if (name.length > longestName)',
      },
    ],
    caughtBy: ['test/packages/decide.test.ts'],
  },
  {
    name: 'ptx-wait-unsaid',
    fault: 'what waits for the Lock after a try that failed says only why that one failed',
    edits: [
      {
        file: 'hooks/packages/outcome/conditions.ts',
        find: 'if (outcome !== undefined && !waits) return',
        replace: 'if (outcome !== undefined) return',
      },
    ],
    caughtBy: ['test/packages/decide.test.ts'],
  },
  {
    name: 'ptx-abandoned-as-valid',
    fault: 'one that is deleted before it was resolved says that it was validated',
    edits: [
      {
        file: 'hooks/packages/outcome/conditions.ts',
        find: 'const verdict = lockDigest === undefined ?',
        replace: 'const verdict = lockDigest === kind ?',
      },
    ],
    caughtBy: ['test/packages/decide.test.ts'],
  },
  {
    name: 'ptx-reads-for-ever',
    fault: 'one whose reads of the cluster fail each time keeps the Lock for ever',
    edits: [
      {
        file: 'hooks/packages/decide/preparing.ts',
        find: '|| !isOverdue(scene)) return undefined;',
        replace: '|| isOverdue(scene)) return undefined;',
      },
    ],
    caughtBy: ['test/packages/decide.test.ts'],
  },
  {
    name: 'ptx-moves-from-any',
    fault: 'a package takes what the revision of a package that stays controls',
    edits: [
      {
        file: 'hooks/packages/observe/comparison.ts',
        find: '(leaves === undefined || leaves === revision ? []',
        replace: '(leaves === undefined ? []',
      },
    ],
    caughtBy: ['test/packages/decide.test.ts'],
  },
  {
    name: 'ptx-moves-from-the-lock',
    fault: 'what a revision that stays in the Lock controls is taken after the validation',
    edits: [
      {
        file: 'hooks/packages/observe/establishing.ts',
        find: 'return before.filter((name) => !stays.includes(name));',
        replace: 'return [...before, ...stays.map(String)];',
      },
    ],
    caughtBy: ['test/packages/decide.test.ts'],
  },
];
