// What is not served for now is not gone.
import type { Sabotage } from '../sabotage.ts';

const away = ['test/server/kubernetes/discovery.test.ts'];
const unserved = ['test/hooks/observe/served.test.ts', 'test/scenarios/undo/unserved-versions.test.ts'];
const versions = ['test/scenarios/undo/unserved-versions.test.ts'];
const servers = ['test/scenarios/undo/servers-away.test.ts'];

export const served: readonly Sabotage[] = [
  {
    name: 'unserved-is-gone',
    fault: 'an undo takes an object for gone whose version of the kind is not served',
    edits: [
      {
        file: 'hooks/observe/read.ts',
        find: "answer.kind === 'failed' && isUnserved(answer.failure)",
        replace: "answer.kind === 'failed' && answer.failure.code === 0",
      },
    ],
    caughtBy: unserved,
  },
  {
    name: 'definition-is-enough',
    fault: 'a kind without a CustomResourceDefinition counts as gone although an API server serves it',
    edits: [
      {
        file: 'hooks/observe/served.ts',
        find: 'return !all.resources.some((one) => one.group === group && one.plural === plural);',
        replace: 'return true;',
      },
    ],
    caughtBy: unserved,
  },
  {
    name: 'unserved-list-empty',
    fault: 'a kind has no objects where the version that is listed is not served',
    edits: [
      {
        file: 'hooks/observe/listing.ts',
        find: 'const isGone = await isWithoutObjects(looker, wanted.resource);',
        replace: 'const isGone = true;',
      },
      {
        file: 'hooks/observe/listing.ts',
        find: "import { isWithoutObjects, untilServed } from './served.ts';",
        replace: "import { untilServed } from './served.ts';",
      },
    ],
    caughtBy: versions,
  },
  {
    name: 'owner-of-one-version',
    fault: 'an undo drops an owner whose version is not served, though it is there in another one',
    edits: [
      {
        file: 'hooks/observe/owners.ts',
        find: "if (resource !== undefined) return { kind: 'ok', resource };",
        replace: '',
      },
    ],
    caughtBy: unserved,
  },
  {
    name: 'unserved-for-good',
    fault: 'an undo waits for a version that is not served until its timeout',
    edits: [
      {
        file: 'hooks/decide/rolling-back.ts',
        find: 'unservedAtUndo(observation, view, entry) ?? failedRead(observation, entry, trouble)',
        replace: 'failedRead(observation, entry, trouble)',
      },
    ],
    caughtBy: ['test/hooks/decide/decide.test.ts'],
  },
  {
    name: 'away-without-kinds',
    fault: 'a group whose API server is away counts as one without kinds',
    edits: [
      {
        file: 'server/kubernetes/discovery.ts',
        find: "textAt(version, 'freshness') === 'Stale'",
        replace: "textAt(version, 'freshness') === 'Away'",
      },
    ],
    caughtBy: away,
  },
  {
    name: 'away-beside',
    fault: 'an object is deleted although dependents of it may be in an API server that is away',
    edits: [{ file: 'hooks/observe/along.ts', find: 'away: [...new Set(away.map(apiServiceOf))]', replace: 'away: []' }],
    caughtBy: servers,
  },
  {
    name: 'away-inside',
    fault: 'an undo deletes a Namespace although objects in it may be in an API server that is away',
    edits: [{ file: 'hooks/observe/inside.ts', find: 'away !== undefined && listed', replace: "away === '' && listed" }],
    caughtBy: servers,
  },
];
