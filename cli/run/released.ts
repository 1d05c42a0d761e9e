// Whether the cluster still has what a Transaction released: only then is a second apply of it "unchanged". And whether a Transaction
// has ended without any change: then its name gives way to the next one, and it stays as evidence.
import { at, isList, type JsonObject, listAt, textAt } from '../../hooks/objects/json.ts';
import { foreign } from '../../hooks/objects/words.ts';
import type { Session } from '../cluster/session.ts';
import { listTransactions } from '../cluster/transactions.ts';
import type { Release } from '../input/release.ts';
import { laterOn } from './later.ts';
import { planOf } from './planning.ts';

const mostNamed = 3;
const longestName = 253;

/** Whether the Transaction has ended, and nothing of it is in the cluster but what a user kept. */
export function hasEndedEmpty(object: JsonObject): boolean {
  const phase = textAt(object, 'status', 'phase');
  if (phase === 'RolledBack') return true;
  return phase === 'Failed' && !listAt(object, 'status', 'items').some((item) => at(item, 'left') === true || isApplied(item));
}

function isApplied(item: unknown): boolean {
  const flag = (name: string): boolean => at(item as JsonObject, name) === true;
  return flag('committed') && !flag('rolledBack');
}

/** Why the cluster has something else than the Committed Transaction released, in words; undefined if it has that. */
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

/** By a later Transaction that is not undone. */
async function changedLater(session: Session, found: JsonObject): Promise<string | undefined> {
  const [namespace = '', name = ''] = [textAt(found, 'metadata', 'namespace'), textAt(found, 'metadata', 'name')];
  const all = await listTransactions(session, namespace);
  const [latest] = laterOn(all, name);
  if (latest === undefined) return undefined;
  const later = all.find((one) => textAt(one, 'metadata', 'name') === latest);
  const phase = textAt(later, 'status', 'phase') ?? 'Pending';
  const since = textAt(later, 'status', 'completionTime') ?? textAt(later, 'metadata', 'creationTimestamp') ?? 'unknown';
  return `Transaction ${latest} (${phase} since ${since}) changed its objects later`;
}

// A change of another type is made once: a plan of it would find its own work in the way.
function isOfApplies(object: JsonObject): boolean {
  const changes = at(object, 'spec', 'changes');
  return isList(changes) && changes.every((change) => textAt(change, 'type') === 'Apply');
}

/** By anybody: a plan of the manifests would change something. */
async function changedSince(session: Session, release: Release, engineNamespace: string): Promise<string | undefined> {
  // Under its own name a plan would find the Transaction itself in the way.
  const metadata = { namespace: textAt(release.transaction, 'metadata', 'namespace') ?? '', generateName: 'compare-' };
  const unnamed = { ...release, transaction: { ...release.transaction, metadata } };
  const plan = await planOf(session, unnamed, { actAs: 'serviceAccount', engineNamespace });
  if (plan.verdict === 'unknown')
    return `whether the cluster still has what it released is unknown: ${plan.trouble ?? 'see janus plan'}`;
  if (plan.verdict === 'refused') return `a plan of it would be refused: ${plan.refusal[0]?.message ?? 'see janus plan'}`;
  // The annotation `applied-by` names another Transaction each time: that alone is no change.
  const changed = plan.changes.filter(({ operation, fields }) =>
    operation === 'update' ? fields.length > 0 : operation !== 'none',
  );
  const names = changed.slice(0, mostNamed).map(({ target, fields, losers }) => {
    const managers = losers.map(({ manager }) => foreign(manager, longestName)).join(', ');
    const by = managers === '' ? '' : ` (by ${managers})`;
    return `${target.kind} ${target.name}${fields[0] === undefined ? '' : ` ${fields[0].path}`}${by}`;
  });
  const more = changed.length > names.length ? ` and ${changed.length - names.length} more` : '';
  return names.length === 0 ? undefined : `others changed its objects since: ${names.join(', ')}${more}`;
}
