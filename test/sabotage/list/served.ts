// What is not served for now is not gone.
import type { Sabotage } from '../sabotage.ts';

const away = ['test/server/kubernetes/discovery.test.ts'];
const servers = ['test/scenarios/undo/servers-away.test.ts'];

export const served: readonly Sabotage[] = [
  {
    name: 'away-without-kinds',
    fault: 'a group whose API server is away counts as one without kinds',
    edits: [
      {
        file: 'server/kubernetes/discovery.ts',
        find: "textAt(version, 'freshness') === 'Stale' &&",
        replace: "textAt(version, 'freshness') === 'Away' &&",
      },
    ],
    caughtBy: away,
  },
  {
    name: 'away-beside',
    fault: 'an object is deleted although dependents of it may be in an API server that is away',
    edits: [{ file: 'hooks/observe/along.ts', find: ', ...served.away.map(unseenVersion)', replace: '' }],
    caughtBy: servers,
  },
  {
    name: 'away-inside',
    fault: 'an undo deletes a Namespace although objects in it may be in an API server that is away',
    edits: [{ file: 'hooks/observe/inside.ts', find: 'away !== undefined && listed', replace: "away === '' && listed" }],
    caughtBy: servers,
  },
];
