// Reads who has which rights, if the Transaction changes Roles or bindings that exist, and finds what its undo would lack. A kind that
// the ServiceAccount may not list shows no rights.
import type { Resource } from '../../objects/cluster.ts';
import type { Failure } from '../../objects/failure.ts';
import { equalJson, type JsonObject } from '../../objects/json.ts';
import { inTurn } from '../../objects/requests/in-turn.ts';
import { describeQuestion, questionsOfUndo } from '../checks/permissions.ts';
import {
  type Account,
  boundRole,
  type ReleasedRule,
  type RoleChange,
  type RoleState,
  rbacGroup,
  takenRight,
  whyTaken,
} from '../hazards/own-rights.ts';
import { isDeletion } from '../model/change.ts';
import { mayBreak, type Transaction } from '../model/transaction.ts';
import { allListed, type Lister, listAll } from '../reading/listing.ts';
import { serviceAccountOf } from '../writes/resources.ts';
import type { LockContext } from './begin.ts';
import type { Prepared } from './observation.ts';

type Context = Pick<LockContext, 'reader' | 'callReads' | 'transaction'>;

type Taken =
  | { readonly kind: 'known'; readonly targets: readonly Prepared[] }
  | { readonly kind: 'trouble'; readonly failure: Failure };

/** The targets; the change that takes a right which the undo needs is irreversible. */
export async function takenRights(context: Context, targets: readonly Prepared[]): Promise<Taken> {
  const changes = targets.filter(({ resolved }) => resolved.resource.group === rbacGroup).map(changeOf);
  if (mayBreak(context.transaction) || !changes.some(isTaking)) return { kind: 'known', targets };
  const account = accountOf(context.transaction);
  const state = await readState(context, account, changes);
  if (state.kind === 'failed') return { kind: 'trouble', failure: state.failure };
  const needs = targets.map((one) => ({ index: one.resolved.index, questions: questionsOfUndo(one) }));
  const found = takenRight(account, state, changes, needs);
  return {
    kind: 'known',
    targets: found === undefined ? targets : targets.map((one) => withReason(one, found, targets, account)),
  };
}

function accountOf({ namespace, serviceAccountName }: Transaction): Account {
  return { namespace, name: serviceAccountName };
}

function changeOf({ resolved: { index, target, change }, prior, expected }: Prepared): RoleChange {
  return { index, target, prior, expected: isDeletion(change) ? undefined : expected };
}

/** Whether a change of what exists can take rights. */
function isTaking({ prior, expected }: RoleChange): boolean {
  const rights = (object: JsonObject | undefined) => [object?.rules ?? null, object?.subjects ?? null, object?.roleRef ?? null];
  return prior !== undefined && !equalJson(rights(prior), rights(expected));
}

function withReason(one: Prepared, found: ReleasedRule, targets: readonly Prepared[], account: Account): Prepared {
  const needing = targets.find(({ resolved }) => resolved.index === found.neededBy);
  if (one.resolved.index !== found.index || needing === undefined || one.irreversible !== undefined) return one;
  const right = describeQuestion(found.question);
  return { ...one, irreversible: whyTaken(right, changeOf(one), needing.resolved.target, account) };
}

type ReadState = (RoleState & { readonly kind: 'known' }) | { readonly kind: 'failed'; readonly failure: Failure };

async function readState(
  { reader, callReads, transaction }: Context,
  account: Account,
  changes: readonly RoleChange[],
): Promise<ReadState> {
  const lister: Lister = { reader, callReads, identity: serviceAccountOf(transaction) };
  const own = changes.flatMap(({ prior, expected }) => [prior, expected].filter((object) => object !== undefined));
  const isOurs = (binding: JsonObject): boolean => boundRole(binding, account) !== undefined;
  const lists = await inTurn(bindings, (resource) =>
    listAll(lister, 'own rights', { resource, namespace: undefined, whole: true }, (object) => (isOurs(object) ? [object] : [])),
  );
  const listed = allListed(lists);
  if (listed.kind === 'failed') return listed;
  const priors = changes.flatMap(({ prior }) => (prior !== undefined && isOurs(prior) ? [prior] : []));
  const all = [...new Map([...listed.items, ...priors].map((one) => [nameIn(one), one])).values()];
  const wanted = [...new Set([...all, ...own].flatMap((binding) => boundRole(binding, account) ?? []))];
  const roles = await inTurn(wanted, async (key) => [key, await readRole(lister, key)] as const);
  const trouble = roles.flatMap(([, role]) =>
    role.kind === 'failed' && role.failure.kind === 'transient' ? [role.failure] : [],
  );
  if (trouble[0] !== undefined) return { kind: 'failed', failure: trouble[0] };
  const known = roles.flatMap(([key, role]) => (role.kind === 'ok' ? [[key, role.object] as const] : []));
  return { kind: 'known', bindings: all, roles: new Map(known) };
}

function nameIn({ metadata }: JsonObject): string {
  const { namespace, name } = metadata as JsonObject;
  return JSON.stringify([namespace, name]);
}

function readRole({ reader, identity }: Lister, key: string) {
  const [kind, namespace = '', name = ''] = key.split('|');
  const place = kind === 'Role' ? { resource: roles, namespace } : { resource: clusterRoles };
  return reader.get({ ...place, name }, identity);
}

function resourceOf(kind: string, namespaced: boolean): Resource {
  const plural = `${kind.toLowerCase()}s`;
  return { group: rbacGroup, version: 'v1', plural, kind, namespaced, verbs: [], statusSubresource: false };
}

const roles = resourceOf('Role', true);
const clusterRoles = resourceOf('ClusterRole', false);
const bindings = [resourceOf('ClusterRoleBinding', false), resourceOf('RoleBinding', true)];
