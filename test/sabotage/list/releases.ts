// Checks before the first change: which dry runs may be deferred, and which changes cannot be undone.
import type { Sabotage } from '../sabotage.ts';

const deferred = ['test/scenarios/releases/deferred.test.ts'];

export const releases: readonly Sabotage[] = [
  {
    name: 'denial-deferred',
    fault: 'what a policy denies is deferred to its turn, where an earlier change makes room for it',
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
    name: 'deferred-believed',
    fault: 'a deferred dry run is not made again: the change is sent',
    edits: [
      {
        file: 'hooks/observe/deferred.ts',
        find: 'return { tried: await reader.dryRun(write) };',
        replace: "return { tried: { kind: 'ok', object: object ?? {}, serverTime: Number(write === undefined) } };",
      },
    ],
    caughtBy: deferred,
  },
  {
    name: 'one-way-field-missed',
    fault: 'a field that cannot be set back is changed all the same',
    edits: [
      {
        file: 'hooks/checks/one-way.ts',
        find: 'const fields = oneWayFields[kindOf(expected)] ?? [];',
        replace: "const fields = oneWayFields[kindOf(expected).concat('s')] ?? [];",
      },
    ],
    caughtBy: ['test/scenarios/releases/one-way.test.ts'],
  },
  {
    name: 'undo-in-one-order',
    fault: 'an undo gives up what needs an object that the same undo creates again later',
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
    fault: 'a Job that has its labels from its template comes back without those that Kubernetes has added',
    edits: [
      {
        file: 'hooks/content/generated.ts',
        find: 'return labels !== undefined && equalJson(labels, ofTemplate) ? undefined : withoutLabels(labels);',
        replace: 'return labels !== undefined && labels === ofTemplate ? undefined : withoutLabels(labels);',
      },
    ],
    caughtBy: ['test/hooks/content/content.test.ts', 'test/scenarios/releases/corpus.test.ts'],
  },
];
