// Decides whether the cluster still has the release of a Transaction: only then a second apply prints "unchanged". It also decides
// whether a Transaction ended without any change: then the next release gets another name, and the Transaction stays as a record.
import { at, isList, type JsonObject, listAt, textAt } from '../../hooks/objects/json.ts';
import { foreign } from '../../hooks/objects/words.ts';
import type { Session } from '../cluster/session.ts';
import type { Release } from '../input/release.ts';
import { laterOn, nameWithin } from './later.ts';

const mostNamed = 3;
const longestName = 253;

/** Whether the Transaction has ended, and only changes that a user kept are in the cluster. */
export function hasEndedEmpty(object: JsonObject): boolean {
  const phase = textAt(object, 'status', 'phase');
  if (phase === 'RolledBack') return true;
  return phase === 'Failed' && !listAt(object, 'status', 'items').some((item) => at(item, 'left') === true || isApplied(item));
}

function isApplied(item: unknown): boolean {
  const flag = (name: string): boolean => at(item as JsonObject, name) === true;
  return flag('committed') && !flag('rolledBack');
}

/** Why the cluster differs from the release of a Committed Transaction; undefined if it does not differ. */
export async function whyNotReleased(
  session: Session,
  release: Release,
  found: JsonObject,
  engineNamespace: string,
): Promise<string | undefined> {
  if (textAt(found, 'status', 'phase') !== 'Committed') return undefined;
  return (
    (await changedLater(session, found)) ?? (isOfApplies(found) ? changedSince(session, release, engineNamespace) : undefined)
  );
}

/** A later Transaction that is not undone has changed the objects. */
async function changedLater(session: Session, found: JsonObject): Promise<string | undefined> {
  const [namespace = '', name = ''] = [textAt(found, 'metadata', 'namespace'), textAt(found, 'metadata', 'name')];
  const [later] = await laterOn(session, { namespace, name });
  if (later === undefined) return undefined;
  const phase = textAt(later, 'status', 'phase') ?? 'Pending';
  const since = textAt(later, 'status', 'completionTime') ?? textAt(later, 'metadata', 'creationTimestamp') ?? 'unknown';
  return `Transaction ${nameWithin(namespace, later)} (${phase} since ${since}) changed its objects later`;
}

// The engine makes a change of another type once. A plan of that change would conflict with its own result.
function isOfApplies(object: JsonObject): boolean {
  const changes = at(object, 'spec', 'changes');
  return isList(changes) && changes.every((change) => textAt(change, 'type') === 'Apply');
}

/** Another client has changed the objects: a plan of the manifests would change a field. */
async function changedSince(session: Session, release: Release, engineNamespace: string): Promise<string | undefined> {
  // Under its own name, the plan would conflict with the Transaction itself.
  const metadata = { namespace: textAt(release.transaction, 'metadata', 'namespace') ?? '', generateName: 'compare-' };
  const unnamed = { ...release, transaction: { ...release.transaction, metadata } };
  const { planOf } = await import('./planning.ts');
  const plan = await planOf(session, unnamed, { actAs: 'serviceAccount', engineNamespace });
  if (plan.verdict === 'unknown')
    return `whether the cluster still has what it released is unknown: ${plan.trouble ?? 'see janus plan'}`;
  if (plan.verdict === 'refused') return `a plan of it would be refused: ${plan.refusal[0]?.message ?? 'see janus plan'}`;
  // The annotation `applied-by` names another Transaction each time, so it does not count as a change.
  // What a client has scaled is no difference from the release either.
  const compared = plan.changes.map((one) => ({ ...one, fields: one.fields.filter(({ path }) => path !== one.scaled) }));
  const changed = compared.filter(({ operation, fields }) => (operation === 'update' ? fields.length > 0 : operation !== 'none'));
  const names = changed.slice(0, mostNamed).map(({ target, fields, losers }) => {
    const managers = losers.map(({ manager }) => foreign(manager, longestName)).join(', ');
    const by = managers === '' ? '' : ` (by ${managers})`;
    return `${target.kind} ${target.name}${fields[0] === undefined ? '' : ` ${fields[0].path}`}${by}`;
  });
  const more = changed.length > names.length ? ` and ${changed.length - names.length} more` : '';
  return names.length === 0 ? undefined : `other clients have changed its objects: ${names.join(', ')}${more}`;
}
