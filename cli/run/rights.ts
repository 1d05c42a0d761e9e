// The rights of an app for its whole life: it creates, changes, drops and restores its objects, and waits for their gates. What its
// existing Transactions have changed is included, because their undo needs these rights.
import { createHash } from 'node:crypto';
import type { AccessQuestion, Resource } from '../../hooks/objects/cluster.ts';
import { type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { groupOf, type Reference } from '../../hooks/objects/reference.ts';
import { isCollected, questionsOfContents } from '../../hooks/transactions/inspect.ts';
import type { Plan } from '../../hooks/transactions/inspection.ts';
import { contentsName, realQuestion } from '../cluster/inspecting.ts';
import type { Session } from '../cluster/session.ts';
import { listTransactions } from '../cluster/transactions.ts';
import { Problem } from '../problem.ts';
import { operationOf } from '../show/operations.ts';
import type { RoleSet } from '../show/roles.ts';
import { type Target, targetIn, viewOf, writtenChanges } from '../show/view.ts';
import type { Planned } from './planning.ts';

/** Throws a Problem if the existing Transactions cannot be listed: without their rights the Roles might take some away. */
export async function rightsOf(session: Session, { plan, transaction }: Planned): Promise<RoleSet> {
  const { namespace, serviceAccountName } = plan;
  const earlier = await earlierOf(session, transaction, namespace);
  const targets = earlier.flatMap((one) => writtenChanges(one).map(targetIn));
  const contents = { namespace, name: contentsName(transaction), isGenerated: true };
  const questions = [
    ...plan.needs.map((question) => realQuestion(question, contents)),
    ...(await needsOfTargets(session, targets, namespace)),
    ...(await needsOfScaling(session, [...targets, ...plan.changes.map(({ target }) => target)], namespace)),
    ...[...createdBy(plan), ...earlier.flatMap(createdIn)].flatMap(({ apiVersion, kind, name }) =>
      questionsOfContents({ group: groupOf(apiVersion), kind, name }),
    ),
  ];
  const created = [...createdBy(plan), ...earlier.flatMap(createdIn).filter(isNamespace)].map(({ name }) => name);
  const written = lifelong(questions);
  const accounts = [serviceAccountName, ...earlier.map((one) => textAt(one, 'spec', 'serviceAccountName') ?? '')];
  return {
    namespace,
    name: roleName(namespace, textAt(transaction, 'spec', 'fieldManager') ?? serviceAccountName),
    accounts: [...new Set(accounts)].toSorted(),
    questions: [...written, ...(await needsOfDependents(session, written, created))],
    created: [...new Set(created)].toSorted(),
  };
}

/** Transactions of the same field manager that an undo may still restore; without a field manager, those of the ServiceAccount. */
async function earlierOf(session: Session, transaction: JsonObject, namespace: string): Promise<readonly JsonObject[]> {
  // A cluster without the engine has no Transactions.
  if ((await servedKind(session, 'tx.janus.io/v1alpha1', 'Transaction')) === undefined) return [];
  const all = await listTransactions(session, namespace);
  const manager = textAt(transaction, 'spec', 'fieldManager');
  const account = textAt(transaction, 'spec', 'serviceAccountName');
  const isSame = (one: JsonObject): boolean =>
    textAt(one, 'spec', 'fieldManager') === manager &&
    (manager !== undefined || textAt(one, 'spec', 'serviceAccountName') === account);
  return all.filter((one) => isSame(one) && textAt(one, 'status', 'phase') !== 'RolledBack');
}

async function needsOfTargets(session: Session, targets: readonly Target[], own: string): Promise<readonly AccessQuestion[]> {
  const kinds = new Map(targets.map((one) => [`${one.apiVersion} ${one.kind}`, one]));
  const answers = await Promise.all(
    [...kinds].map(async ([key, { apiVersion, kind }]) => [key, await servedKind(session, apiVersion, kind)] as const),
  );
  const served = new Map(answers);
  return targets.flatMap(({ apiVersion, kind, namespace = own }): readonly AccessQuestion[] => {
    const found = served.get(`${apiVersion} ${kind}`);
    if (found === undefined) return [];
    const { group, plural: resource, namespaced } = found;
    return [{ verb: 'update', group, resource, ...(namespaced ? { namespace } : {}) }];
  });
}

/** What shows whether an autoscaler has the number of an object (observe/autoscalers.ts). */
async function needsOfScaling(
  session: Session,
  targets: readonly (Reference | Target)[],
  own: string,
): Promise<readonly AccessQuestion[]> {
  const scaled = await Promise.all(
    targets.map(async ({ apiVersion, kind, namespace = own }) => {
      const resource = await servedKind(session, apiVersion, kind);
      return resource?.scale === true && resource.namespaced ? [{ resource, namespace }] : [];
    }),
  );
  const found = scaled.flat();
  if (found.length === 0) return [];
  const keda = await servedKind(session, 'keda.sh/v1alpha1', 'ScaledObject');
  return found.flatMap(({ resource: { group, plural }, namespace }): readonly AccessQuestion[] => [
    { verb: 'list', group: 'autoscaling', resource: 'horizontalpodautoscalers', namespace },
    ...(keda === undefined ? [] : [{ verb: 'list', group: 'keda.sh', resource: keda.plural, namespace }]),
    ...(['', 'apps'].includes(group)
      ? []
      : [{ verb: 'get', group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions', name: `${plural}.${group}` }]),
  ]);
}

/**
 * What shows what Kubernetes deletes with an object: all kinds in its namespace, Secrets only where the app writes some. What goes
 * with a cluster-scoped object may be in any namespace: no Role grants as much as that.
 */
async function needsOfDependents(
  { cluster }: Session,
  written: readonly AccessQuestion[],
  created: readonly string[],
): Promise<readonly AccessQuestion[]> {
  const served = await cluster.resources();
  if (served.kind === 'failed')
    throw new Problem(`Which kinds the API server has is unknown (${served.failure.reason}): try again.`);
  const kinds = served.resources.filter((one) => one.namespaced && isCollected(one));
  const places = Map.groupBy(
    written.filter(({ verb, namespace = '' }) => verb === 'delete' && namespace !== '' && !created.includes(namespace)),
    ({ namespace = '' }) => namespace,
  );
  return [...places].flatMap(([namespace, own]) => {
    const hasSecrets = own.some(isOfSecrets);
    const lists = kinds.map(({ group, plural: resource }) => ({ verb: 'list', group, resource, namespace }) as const);
    return hasSecrets ? lists : lists.filter((one) => !isOfSecrets(one));
  });
}

const isOfSecrets = ({ group, resource }: AccessQuestion): boolean => group === '' && resource === 'secrets';

/** Undefined if no API server serves the kind: then no undo can write it. Throws a Problem if this is unknown. */
async function servedKind({ cluster }: Session, apiVersion: string, kind: string): Promise<Resource | undefined> {
  const answer = await cluster.resource(apiVersion, kind);
  if (answer.kind === 'ok') return answer.resource;
  if (answer.failure.kind === 'absent') return undefined;
  throw new Problem(`Whether the API server serves ${kind} in ${apiVersion} is unknown (${answer.failure.reason}): try again.`);
}

function createdBy({ changes }: Plan): readonly Target[] {
  return changes.flatMap(({ target, operation }) =>
    operation === 'create' && target.kind === 'Namespace' ? [{ ...target, namespace: undefined }] : [],
  );
}

function createdIn(transaction: JsonObject): readonly Target[] {
  const { changes } = viewOf(transaction);
  return writtenChanges(transaction)
    .filter((_, index) => changes[index] && operationOf(changes[index]) === 'created')
    .map(targetIn);
}

const isNamespace = ({ apiVersion, kind }: Target): boolean => apiVersion === 'v1' && kind === 'Namespace';

const verbsOfLife = ['get', 'create', 'update', 'patch', 'delete'];
const workloads = ['apps/deployments', 'apps/statefulsets', 'apps/daemonsets', 'apps/replicasets', 'batch/jobs', '/pods'];
const placeOf = ({ namespace }: AccessQuestion) => (namespace === undefined ? {} : { namespace });

/** Each kind that is written gets all verbs of its life, and the reads of its gate. */
function lifelong(questions: readonly AccessQuestion[]): readonly AccessQuestion[] {
  const all = questions.flatMap((question): readonly AccessQuestion[] => {
    const { verb, group, resource, subresource, name } = question;
    if (['get', 'list'].includes(verb) || subresource !== undefined || name !== undefined) return [question];
    const own = verbsOfLife.map((one) => ({ verb: one, group, resource, ...placeOf(question) }));
    return [...own, ...needsOfGate(question)];
  });
  return [...new Map(all.map((one) => [JSON.stringify(one), one])).values()];
}

/** What a gate reads beside its object: a claim waits for its class; a failed gate says what its Pods wait for. */
function needsOfGate(question: AccessQuestion): readonly AccessQuestion[] {
  const kind = `${question.group}/${question.resource}`;
  if (kind === '/persistentvolumeclaims') return [{ verb: 'get', group: 'storage.k8s.io', resource: 'storageclasses' }];
  if (!workloads.includes(kind)) return [];
  const list = (group: string, resource: string) => ({ verb: 'list', group, resource, ...placeOf(question) });
  return [list('', 'pods'), list('', 'events'), list('apps', 'replicasets')];
}

const longestName = 253;

/** The app may have a Role of its own name, and a ClusterRole of that name may belong to another namespace. */
export function roleName(namespace: string, app: string): string {
  const whole = `janus:${namespace}:${app}`;
  const name = whole.replaceAll(/[^\w.:-]/g, '-');
  return name === whole && name.length <= longestName ? name : `${name.slice(0, longestName - 9)}-${digestOf(whole)}`;
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 8);
}
