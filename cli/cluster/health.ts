// What must be there so that the engine handles Transactions: the kind, the engine, Metacontroller and its flags, rights. Each check reads
// with the rights of the user; what the user may not read is unknown, and no fault.
import type { AccessQuestion, Identity, Resource } from '../../hooks/objects/cluster.ts';
import type { Failure } from '../../hooks/objects/failure.ts';
import { at, isObject, type Json, type JsonObject, listAt, textAt } from '../../hooks/objects/json.ts';
import { parseTime } from '../../hooks/objects/time.ts';
import { foreign } from '../../hooks/objects/words.ts';
import { customResourceDefinition } from '../../schemas/custom-resource-definition.ts';
import { ageOf } from '../show/age.ts';
import { versionOf } from './engine.ts';
import { caller, type Session } from './session.ts';
import { isNamespaceMissing, listTransactions, noNamespace, transactions } from './transactions.ts';
import { engine, findWorkloads, metacontroller } from './workloads.ts';

export interface Check {
  readonly name: string;
  readonly state: 'ok' | 'wrong' | 'unknown';
  /** What was found, and what the user does next. */
  readonly message: string;
}

/** Where the user says that they are; all namespaces are searched for the others. */
export interface EngineNamespaces {
  readonly engineNamespace?: string | undefined;
  readonly metacontrollerNamespace?: string | undefined;
}

const ok = (name: string, message: string): Check => ({ name, state: 'ok', message });
const wrong = (name: string, message: string): Check => ({ name, state: 'wrong', message });
const unknown = (name: string, message: string): Check => ({ name, state: 'unknown', message });

/** `what`: with its kind. `absent`: the message if the object does not exist. */
function unread(name: string, what: string, { kind, reason }: Failure, absent: string): Check {
  return kind === 'absent' ? wrong(name, absent) : unknown(name, `${what} cannot be read (${reason})`);
}

const resource = (group: string, plural: string, kind: string): Resource => ({
  ...{ group, version: 'v1', plural, kind, namespaced: kind !== 'CustomResourceDefinition' && kind !== 'CompositeController' },
  ...{ verbs: [], statusSubresource: true },
});
const crds = resource('apiextensions.k8s.io', 'customresourcedefinitions', 'CustomResourceDefinition');
const controllers = { ...resource('metacontroller.k8s.io', 'compositecontrollers', 'CompositeController'), version: 'v1alpha1' };
const accounts = resource('', 'serviceaccounts', 'ServiceAccount');

/** Whether the kind is served, and has all fields that this program writes and shows. */
export async function kindCheck({ cluster }: Session): Promise<Check> {
  const name = `${transactions.plural}.${transactions.group}`;
  const answer = await cluster.get({ resource: crds, name }, caller);
  if (answer.kind === 'failed')
    return unread('CRD', name, answer.failure, `the cluster does not serve ${name}: install the engine as README.md shows`);
  const [served, own] = [answer.object, customResourceDefinition as unknown as JsonObject].map(fieldsOf);
  const missing = [...(own ?? [])].filter((field) => served?.has(field) !== true);
  const version = `${name}/${transactions.version}`;
  if (missing.length === 0) return ok('CRD', `${version} has all fields of this program`);
  return wrong('CRD', `${version} is of another version, without ${missing.join(', ')}: apply manifests/crds of this version`);
}

function fieldsOf(crd: JsonObject): ReadonlySet<string> {
  const version = listAt(crd, 'spec', 'versions').find((one) => textAt(one, 'name') === transactions.version);
  const names = ['spec', 'status'].flatMap((part) => {
    const properties = at(version ?? {}, 'schema', 'openAPIV3Schema', 'properties', part, 'properties');
    return isObject(properties) ? Object.keys(properties).map((key) => `${part}.${key}`) : [];
  });
  return new Set(names);
}

export async function engineCheck(session: Session, { engineNamespace }: EngineNamespaces): Promise<Check> {
  const found = await findWorkloads(session, engine, engineNamespace);
  return found.kind === 'found' ? worst(found.workloads.map((one) => readiness('engine', one))) : notFound('engine', found);
}

const notFound = (name: string, { kind, message }: { readonly kind: 'absent' | 'unknown'; readonly message: string }): Check =>
  kind === 'absent' ? wrong(name, message) : unknown(name, message);

/** The check of all that were found: each of them may have to make the call. */
function worst(checks: readonly Check[]): Check {
  const bad = checks.filter(({ state }) => state === 'wrong');
  const shown = bad.length > 0 ? bad : checks;
  return {
    name: shown[0]?.name ?? '',
    state: bad.length > 0 ? 'wrong' : 'ok',
    message: shown.map(({ message }) => message).join('; '),
  };
}

function readiness(name: string, { what, object: workload }: { readonly what: string; readonly object: JsonObject }): Check {
  const [ready, all] = [at(workload, 'status', 'readyReplicas') ?? 0, at(workload, 'spec', 'replicas') ?? 1].map(Number);
  const version = versionOf(workload);
  const found = `${what} ${ready}/${all} ready${version === undefined ? '' : `, version ${version}`}`;
  return ready === 0 ? wrong(name, found) : ok(name, found);
}

/** With the flags that slow it down. README.md has the values. */
export async function metacontrollerChecks(session: Session, places: EngineNamespaces): Promise<readonly Check[]> {
  const found = await findWorkloads(session, metacontroller, places.metacontrollerNamespace);
  if (found.kind !== 'found') return [notFound('Metacontroller', found)];
  const ready = worst(found.workloads.map((one) => readiness('Metacontroller', one)));
  return [ready, worst(found.workloads.map(({ object }) => flagCheck(object)))];
}

const wantedFlags = { workers: 50, 'client-go-qps': 1000, 'client-go-burst': 2000 } as const;

function flagCheck(workload: JsonObject): Check {
  const args = listAt(workload, 'spec', 'template', 'spec', 'containers').flatMap((one) => [
    ...listAt(one, 'command'),
    ...listAt(one, 'args'),
  ]);
  const slow = Object.entries(wantedFlags).filter(([flag, wanted]) => numberIn(args, flag) < wanted / 10);
  if (slow.length === 0) return ok('flags', 'Metacontroller has flags that do not slow it down');
  const flags = slow.map(([flag, wanted]) => `--${flag}=${wanted}`).join(' ');
  return wrong('flags', `Metacontroller is slow: give it ${flags}`);
}

/** 0 for the default, which is slow. */
function numberIn(args: readonly Json[], flag: string): number {
  const found = args.findLast((one) => typeof one === 'string' && one.replace(/^--?/, '').startsWith(`${flag}=`));
  return typeof found === 'string' ? Number(found.slice(found.indexOf('=') + 1)) : 0;
}

/** Whether Metacontroller is to call the engine for Transactions. */
export async function controllerCheck({ cluster }: Session): Promise<Check> {
  const answer = await cluster.listMetadata(controllers, undefined, caller, { whole: true, limit: 500 });
  const absent = 'the cluster does not serve CompositeControllers: install Metacontroller';
  if (answer.kind === 'failed') return unread('CompositeController', 'CompositeControllers', answer.failure, absent);
  const own = answer.items.filter((one) => textAt(one, 'spec', 'parentResource', 'resource') === transactions.plural);
  const names = own.map((one) => foreign(textAt(one, 'metadata', 'name') ?? '', 253));
  if (names.length > 0) return ok('CompositeController', names.join(', '));
  return wrong(
    'CompositeController',
    'no CompositeController has Transactions as its parent: apply manifests/composite-controller.yaml',
  );
}

/** A Transaction without a status for this time has had no call. In ms. */
export const longestSilence = 10_000;

/** By the Transactions of the namespace: Metacontroller stores the status after each call. */
export async function callCheck(session: Session): Promise<Check> {
  const all = await listTransactions(session, session.namespace);
  if (all.length === 0 && (await isNamespaceMissing(session))) return wrong('calls', noNamespace(session.namespace).message);
  const silent = all.filter((one) => at(one, 'status', 'phase') === undefined && ageIn(one) > longestSilence);
  const calls = all.flatMap((one) => (at(one, 'status', 'phase') === undefined ? [] : lastWrites(one)));
  const last = calls.length === 0 ? 'no call is known' : `last call ${ageOf(Date.now() - Math.max(...calls))} ago`;
  const place = `in namespace ${session.namespace}`;
  if (silent.length === 0) return ok('calls', `${last} ${place}`);
  const name = foreign(textAt(silent[0], 'metadata', 'name') ?? '', 253);
  return wrong('calls', `${last} ${place}; ${silent.length} without a call, such as Transaction ${name}`);
}

function ageIn(object: JsonObject): number {
  return Date.now() - (parseTime(textAt(object, 'metadata', 'creationTimestamp')) ?? Date.now());
}

function lastWrites(object: JsonObject): readonly number[] {
  const entries = listAt(object, 'metadata', 'managedFields').filter((one) => textAt(one, 'subresource') === 'status');
  return entries.flatMap((one) => parseTime(textAt(one, 'time')) ?? []);
}

/** The rights of the user for all commands. */
export async function userCheck(session: Session): Promise<Check> {
  const { namespace } = session;
  const own = { group: transactions.group, resource: transactions.plural, namespace };
  const questions = [
    ...['get', 'list', 'watch', 'create', 'patch'].map((verb) => ({ verb, ...own })),
    ...['create', 'patch'].map((verb) => ({ verb, group: '', resource: 'secrets', namespace })),
  ];
  const missing = await missingRights(session, questions, caller);
  const place = `in namespace ${namespace}`;
  if (typeof missing === 'string') return unknown('your rights', `the API server does not answer (${missing})`);
  if (missing.length === 0) return ok('your rights', `you may create, follow and undo Transactions ${place}`);
  return wrong('your rights', `you may not ${missing.map(rightOf).join(', ')} ${place}`);
}

/** Whether the ServiceAccount exists, and whether it has the usual rights of one that releases. `plan` and `rbac` know them exactly. */
export async function accountCheck(session: Session, name: string): Promise<Check> {
  const { cluster, namespace } = session;
  const label = `ServiceAccount ${name}`;
  const answer = await cluster.get({ resource: accounts, namespace, name }, caller);
  if (answer.kind === 'failed')
    return unread(
      label,
      label,
      answer.failure,
      `it does not exist in namespace ${namespace}: create it, and give it the Roles of janus rbac`,
    );
  const questions = ['get', 'create', 'patch', 'update', 'delete'].flatMap((verb) =>
    [['', 'configmaps'] as const, ['apps', 'deployments'] as const].map(([group, resource]) => ({
      verb,
      group,
      resource,
      namespace,
    })),
  );
  const missing = await missingRights(session, questions, { kind: 'serviceAccount', namespace, name });
  if (typeof missing === 'string') return unknown(label, `its rights cannot be read (${missing}): you may not impersonate it`);
  if (missing.length === 0)
    return ok(label, 'it may release ConfigMaps and Deployments; janus plan checks the rights for a release');
  return wrong(label, `it may not ${missing.map(rightOf).join(', ')}: janus rbac -f MANIFESTS prints the Roles for a release`);
}

/** The rights that are missing, or why they are unknown. */
async function missingRights(
  { cluster }: Session,
  questions: readonly AccessQuestion[],
  identity: Identity,
): Promise<readonly AccessQuestion[] | string> {
  const answers = await Promise.all(questions.map((question) => cluster.allowed(question, identity)));
  const failed = answers.find((answer) => answer.kind === 'failed');
  if (failed?.kind === 'failed') return failed.failure.reason;
  return questions.filter((_, index) => {
    const answer = answers[index];
    return answer?.kind !== 'failed' && answer?.allowed === false;
  });
}

function rightOf({ verb, group, resource: plural }: AccessQuestion): string {
  return `${verb} ${plural}${group === '' ? '' : `.${group}`}`;
}

/** Why the engine makes no call, in one sentence: what is wrong, or else what the user may not see. Undefined if everything is right. */
export async function whatIsWrong(session: Session, places: EngineNamespaces = {}): Promise<string | undefined> {
  const checks = await Promise.all([
    engineCheck(session, places),
    metacontrollerChecks(session, places).then(([ready]) => ready),
    controllerCheck(session),
    kindCheck(session),
  ]);
  const found = ['wrong', 'unknown'].map((state) => checks.find((check) => check?.state === state)?.message);
  return found[0] ?? found[1];
}
