// Checks before the first change: which dry runs may be deferred, and which changes cannot be undone.
import type { Sabotage } from '../sabotage.ts';

const deferred = ['test/scenarios/releases/deferred.test.ts'];

export const releases: readonly Sabotage[] = [
  {
    name: 'denial-deferred',
    fault: 'a dry run that a policy denies is deferred if an earlier change frees quota',
    edits: [
      {
        file: 'hooks/checks/deferred.ts',
        find: 'return code === wanted && subject === name;',
        replace: "return code === wanted && subject !== name.concat('.');",
      },
    ],
    caughtBy: deferred,
  },
  {
    name: 'any-account-deferred',
    fault: 'the dry run of a Pod waits for its turn though no earlier change creates its ServiceAccount',
    edits: [
      {
        file: 'hooks/checks/deferred.ts',
        find: 'isInNamespaceOf(earlier, later) && earlier.target.name === accountOf(later.content)',
        replace: "isInNamespaceOf(earlier, later) && accountOf(later.content) !== ''",
      },
    ],
    caughtBy: ['test/scenarios/releases/deferred-accounts.test.ts'],
  },
  {
    name: 'deferred-believed',
    fault: 'a deferred dry run is not repeated: the change is sent',
    edits: [
      {
        file: 'hooks/observe/deferred.ts',
        find: 'const answer = await source.reader.dryRun(write);',
        replace: "const answer = { kind: 'ok', object: object ?? {}, serverTime: Number(write === undefined) } as Answer;",
      },
    ],
    caughtBy: deferred,
  },
  {
    name: 'one-way-field-missed',
    fault: 'a field that cannot be set back is changed nevertheless',
    edits: [
      {
        file: 'hooks/checks/one-way.ts',
        find: 'const fields = oneWayFields[kindOfObject(expected)] ?? [];',
        replace: "const fields = oneWayFields[kindOf(expected).concat('s')] ?? [];",
      },
    ],
    caughtBy: ['test/scenarios/releases/one-way.test.ts'],
  },
  {
    name: 'undo-in-one-order',
    fault: 'an undo leaves an object that needs another one which the same undo recreates later',
    edits: [
      {
        file: 'hooks/outcome/lagging.ts',
        find: 'if (remover === undefined) return undefined;',
        replace: 'if (remover === undefined || status.items.length > 0) return undefined;',
      },
    ],
    caughtBy: ['test/scenarios/releases/undo-order.test.ts'],
  },
  {
    name: 'job-labels-lost',
    fault: 'a recreated Job with labels from its template lacks those that Kubernetes added',
    edits: [
      {
        file: 'hooks/content/generated.ts',
        find: 'return labels !== undefined && equalJson(labels, ofTemplate) ? undefined : withoutLabels(labels);',
        replace: 'return labels !== undefined && labels === ofTemplate ? undefined : withoutLabels(labels);',
      },
    ],
    caughtBy: ['test/hooks/content/content.test.ts', 'test/scenarios/releases/corpus.test.ts'],
  },
  {
    name: 'stored-objects-overlooked',
    fault: 'a version is taken out of the stored ones although objects may be stored in it',
    edits: [
      {
        file: 'hooks/attribution/stored-versions.ts',
        find: 'if (stored.others.length > 0) return conflict(name, added, stored.others);',
        replace: 'if (stored.others.length < 0) return conflict(name, added, stored.others);',
      },
    ],
    caughtBy: ['test/scenarios/undo/storage-versions.test.ts'],
  },
  {
    name: 'storage-moved-without-pause',
    fault: 'after the storage version of a CRD is moved back nobody waits until all API servers know it',
    edits: [
      {
        file: 'hooks/attribution/stored-versions.ts',
        find: 'if (stored.now <= until)',
        replace: 'if (stored.now <= Math.min(until, 0))',
      },
    ],
    caughtBy: ['test/scenarios/undo/storage-versions.test.ts'],
  },
  {
    name: 'nulls-of-no-effect',
    fault: 'a Patch that removes nothing is Committed',
    edits: [
      {
        file: 'hooks/observe/trial.ts',
        find: "change.type === 'Patch' ? keptDespiteNull",
        replace: "change.type === 'Delete' ? keptDespiteNull",
      },
    ],
    caughtBy: ['test/scenarios/changes/nulls.test.ts'],
  },
];
