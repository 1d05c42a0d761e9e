// The tests that `npm test` leaves to `npm run test:all`: they take long, and other tests try the behaviour, too. Everything else runs
// whole: a file or folder that is named (`npm test -- PATH`), and a file that Node runs by itself, as `npm run sabotage` does.
import process from 'node:process';

/** scripts/test.ts sets `JANUS_TESTS=selected` for `npm test`. */
const runsAll = process.env.JANUS_TESTS !== 'selected';

/** The options of a test that only `npm run test:all` runs. */
export const inAllOnly: { readonly skip: false | string } = { skip: runsAll ? false : '`npm run test:all` runs it' };

/** A number of generated cases: `few` in `npm test`, else `many`. */
export function share(few: number, many: number): number {
  return runsAll ? many : few;
}

/** Files in test/ that only `npm run test:all` runs, without their ending, each with a file of `npm test` that tries the kind of behaviour. */
export const filesInAllOnly: ReadonlyMap<string, string> = new Map([
  ['bench', 'server/main'],
  ['cli/cases', 'cli/transactions'],
  ['cli/connections', 'cli/no-answer'],
  ['cli/exits', 'cli/transactions'],
  ['cli/held-up', 'cli/no-answer'],
  ['cli/killed', 'scenarios/requests/crashes'],
  ['cli/package', 'cli/transactions'],
  ['cli/refused-secrets', 'cli/canaries'],
  ['cli/secrets', 'cli/canaries'],
  ['controlplane/controller-writes', 'scenarios/undo/ownership'],
  ['controlplane/leftovers', 'server/stopping'],
  ['controlplane/start', 'server/stopping'],
  ['controlplane/versions', 'server/main'],
  ['demo', 'scripts/demo'],
  ['faults/processes/processes', 'scenarios/calls/replicas'],
  ['manifests/agreement', 'manifests/rules'],
  ['manifests/storable', 'manifests/status-version'],
  ['monitoring/prometheus', 'monitoring/alerts'],
  ['packages/bad-input', 'packages/contents'],
  ['packages/kinds', 'packages/install'],
  ['packages/owners', 'packages/lost'],
  ['packages/points', 'packages/install'],
  ['packages/recovery', 'packages/rollback'],
  ['packaging/helm-install', 'packaging/chart'],
  ['packaging/kubectl-install', 'packaging/installs'],
  ['packaging/metacontrollers', 'packaging/installs'],
  ['plan/limits', 'plan/plan'],
  ['plan/states', 'plan/plan'],
  ['release/release', 'packaging/chart'],
  ['scenarios/calls/late-writes', 'scenarios/calls/late-marks'],
  ['scenarios/calls/long-looks', 'scenarios/requests/requests'],
  ['scenarios/calls/replays', 'scenarios/calls/duplicates'],
  ['scenarios/changes/large-objects', 'scenarios/changes/kinds'],
  ['scenarios/changes/recreated-halves', 'scenarios/changes/recreated-kinds'],
  ['scenarios/conflicts/many-managers', 'scenarios/conflicts/on-apply'],
  ['scenarios/gates/examples', 'scenarios/gates/gates'],
  ['scenarios/lifecycle/engine-refused', 'scenarios/lifecycle/account'],
  ['scenarios/locks/lost-locks', 'scenarios/locks/contention'],
  ['scenarios/manifests/left-behind', 'scenarios/manifests/releases'],
  ['scenarios/manifests/untried', 'scenarios/releases/deferred-classes'],
  ['scenarios/order/pairs', 'scenarios/order/recreated-targets'],
  ['scenarios/releases/deferred', 'scenarios/releases/deferred-classes'],
  ['scenarios/requests/effect-by-phase', 'scenarios/requests/requests'],
  ['scenarios/undo/contents-of-others', 'scenarios/undo/consequences'],
  ['scenarios/undo/crash-between-two-writes', 'faults/faults'],
  ['scenarios/undo/filled-by-controllers', 'scenarios/manifests/releases'],
  ['scenarios/undo/needed-objects', 'scenarios/undo/consequences'],
  ['scenarios/undo/pruned-values', 'scenarios/undo/consequences'],
  ['scenarios/undo/storage-versions', 'scenarios/changes/namespaces-and-crds'],
  ['scenarios/undo/unlistable-kinds', 'scenarios/undo/servers-away'],
  ['scenarios/undo/unserved-versions', 'scenarios/changes/namespaces-and-crds'],
  ['scenarios/undo/volumes-of-others', 'scenarios/undo/stateful-claims'],
  ['server/flood', 'server/main'],
  ['server/frozen', 'scenarios/calls/replicas'],
  ['soak/soak', 'scenarios/locks/contention'],
  ['threats/gate-canary', 'threats/canary'],
  ['threats/large-metadata', 'threats/bodies'],
  ['threats/list-canaries', 'threats/canary'],
  ['threats/many-fields', 'threats/bodies'],
  ['threats/replayed-snapshots', 'scenarios/snapshots/authenticity'],
  ['threats/rights', 'threats/confused-deputy'],
  ['threats/snapshot-bombs', 'threats/tampering'],
  ['threats/words', 'threats/canary'],
]);
