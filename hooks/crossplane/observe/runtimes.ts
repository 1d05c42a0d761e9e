// What Crossplane runs of the packages of a Replace. Two providers with the same kinds would reconcile the same external resources, so
// Crossplane gets the new revisions once nothing of the former ones runs.
import type { Resource } from '../../objects/cluster.ts';
import { textAt } from '../../objects/json.ts';
import { inTurn } from '../../objects/requests/in-turn.ts';
import { ownersIn } from '../checks/conflicts.ts';
import { isActive } from '../model/package.ts';
import type { PackageTransaction } from '../model/package-transaction.ts';
import { conditionOf } from '../model/status.ts';
import { isPaused, type Paused } from '../writes/beside.ts';
import { nameLabel, stages } from '../writes/resources.ts';
import { leavingOf } from './deletion.ts';
import { revisionsIn } from './lock-state.ts';
import { readStage } from './objects.ts';
import type { Context, Garbage, RuntimeState } from './observation.ts';
import { readHolders } from './parts.ts';
import { managedDefinition } from './pauses.ts';
import { find, list, type PackageReader, served } from './read.ts';

const deployments: Resource = { ...stages, group: 'apps', version: 'v1', plural: 'deployments', kind: 'Deployment' };
const pods: Resource = { ...stages, group: '', version: 'v1', plural: 'pods', kind: 'Pod' };

/** The label of a Pod with the name of its revision. */
const revisionLabel = 'pkg.crossplane.io/revision';

/** Undefined unless Crossplane runs the packages of a Replace. */
export async function readRuntimes(
  reader: PackageReader,
  { ptx, crossplaneNamespace }: Pick<Context, 'ptx' | 'crossplaneNamespace'>,
): Promise<RuntimeState | undefined> {
  const leaving = leavingOf(ptx);
  if (leaving === undefined || crossplaneNamespace === undefined) return undefined;
  const { revisions } = await readHolders(reader, leaving);
  const coming = (await revisionsIn(reader, { labelSelector: `${nameLabel}=${ptx.name}` })).filter(({ live }) => isActive(live));
  return {
    running: await runningOf(reader, revisions, crossplaneNamespace),
    paused: coming.filter(({ live }) => isPaused(live)),
    unhealthy: coming.flatMap(unhealthy),
  };
}

async function runningOf(reader: PackageReader, revisions: readonly Garbage[], namespace: string): Promise<readonly Garbage[]> {
  const uids = new Set(revisions.map(({ object }) => textAt(object, 'metadata', 'uid')));
  const names = new Set(revisions.map(({ object }) => textAt(object, 'metadata', 'name')));
  const [made, run] = [
    await list(reader, deployments, namespace, {}),
    await list(reader, pods, namespace, { labelSelector: revisionLabel }),
  ];
  const own = made.filter((one) => ownersIn(one).some((owner) => uids.has(textAt(owner, 'uid'))));
  const ownPods = run.filter((one) => names.has(textAt(one, 'metadata', 'labels', revisionLabel)));
  return [
    ...own.map((object) => ({ resource: deployments, namespace, object })),
    ...ownPods.map((object) => ({ resource: pods, namespace, object })),
  ];
}

/** Conditions that Crossplane's controllers write. A Configuration runs nothing. */
function unhealthy({ resource: { kind }, live }: Paused): readonly string[] {
  const types = kind === 'ConfigurationRevision' ? ['RevisionHealthy'] : ['RevisionHealthy', 'RuntimeHealthy'];
  return types.flatMap((type) => {
    const found = conditionOf(live, type);
    if (textAt(found, 'status') === 'True') return [];
    return [
      `${kind} ${textAt(live, 'metadata', 'name')}: ${type} ${textAt(found, 'status') ?? 'Unknown'} ${textAt(found, 'message') ?? ''}`,
    ];
  });
}

/** ManagedResourceDefinitions that Crossplane has written for a new revision: it took the pause away that the undo must find. */
export async function writtenDefinitions(reader: PackageReader, { status }: PackageTransaction): Promise<readonly Paused[]> {
  const resource = await served(reader, managedDefinition.apiVersion, managedDefinition.kind);
  if (status.handOverTime === undefined || resource === undefined) return [];
  const made = status.stages.filter(({ purpose }) => purpose === 'Pauses');
  const items = (await inTurn(made, async (stage) => (await readStage(reader, stage)) ?? [])).flat();
  const names = items.flatMap(({ target }) =>
    textAt(target, 'kind') === managedDefinition.kind ? [textAt(target, 'name') ?? ''] : [],
  );
  const found = await inTurn(names, async (name) => find(reader, { resource, name }));
  return found.flatMap((live) => (live === undefined || isPaused(live) ? [] : [{ resource, live }]));
}
