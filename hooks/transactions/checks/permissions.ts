// The permissions that the ServiceAccount needs, for the changes and for their undo. They are reviewed before the first lock.
import type { AccessQuestion, Resource } from '../../objects/cluster.ts';
import { hasPods } from '../gates/new-pods.ts';
import { isDeletion, onlyWayOf, type Verb, verbOf, type Way } from '../model/change.ts';
import type { Gate } from '../model/gate.ts';
import { gateOf } from '../model/gated.ts';
import { sourceOf } from '../model/source.ts';
import type { Transaction } from '../model/transaction.ts';
import { type Fault, fault } from './fault.ts';
import type { Resolved } from './targets.ts';

/** What the undo of a write needs. */
const undo: Readonly<Record<Verb, readonly string[]>> = {
  create: ['delete'],
  update: ['update'],
  patch: ['update'],
  delete: ['create', 'update'],
};

// Forward and back.
const recreating: readonly string[] = ['delete', 'create', 'update'];

/** `undo`: only the undo needs it. `gate`: without it a gate fails later, and says less. */
type Purpose = 'change' | 'undo' | 'gate';

/** One permission, and the changes that need it. */
export interface Need {
  readonly question: AccessQuestion;
  readonly by: readonly Resolved[];
  readonly purpose: Purpose;
}

type Asked = Pick<Need, 'question' | 'purpose'>;

/** One review for each verb, resource and namespace: 500 changes must not cost 2 000 reviews. */
export function needsOf(resolved: readonly Resolved[]): readonly Need[] {
  return grouped(resolved, questionsOf);
}

/** What gates read besides their objects: Pods that do not start, and why. */
export function needsOfGates(transaction: Transaction, resolved: readonly Resolved[]): readonly Need[] {
  return grouped(resolved, (one) => {
    const gate = isDeletion(one.change) ? undefined : gateOf(transaction, one.index);
    if (gate === undefined || !hasPods(one.resource)) return [];
    return podQuestions(one, gate).map((question): Asked => ({ question, purpose: 'gate' }));
  });
}

function podQuestions({ resource, target: { namespace } }: Resolved, { keepLogs }: Gate): readonly AccessQuestion[] {
  const place = namespace === undefined ? {} : { namespace };
  const list = (group: string, plural: string): AccessQuestion => ({ verb: 'list', group, resource: plural, ...place });
  const logs: AccessQuestion = { verb: 'get', group: '', resource: 'pods', subresource: 'log', ...place };
  const ofDeployment = resource.kind === 'Deployment' ? [list('apps', 'replicasets')] : [];
  return [...ofDeployment, list('', 'pods'), list('', 'events'), ...(keepLogs === true ? [logs] : [])];
}

/** A change whose way is known. */
interface Decided {
  readonly resolved: Resolved;
  readonly way: Way;
  /** Whether no dry run has shown that the ServiceAccount may make the change. */
  readonly approximate: boolean;
  readonly recreates?: true;
}

/** What each change whose way depends on its object, and what recreates its object, needs beyond needsOf and what its dry run has shown. */
export function needsOfWays(all: readonly Decided[]): readonly Need[] {
  const decided = new Map(all.map((one) => [one.resolved, one]));
  return grouped([...decided.keys()], (resolved) => {
    const one = decided.get(resolved);
    if (one?.recreates === true) return asked(resolved, recreating, 'change');
    return one === undefined || ownWayOf(resolved) !== undefined ? [] : questionsOfWay(one);
  });
}

function questionsOfWay({ resolved, way, approximate }: Decided): readonly Asked[] {
  const creating = approximate && way === 'Create' ? ['create'] : [];
  const own = [...asked(resolved, creating, 'change'), ...asked(resolved, undo[verbOf(way)], 'undo')];
  return [...own, ...containerQuestions(way, resolved.resource, resolved.target.name)];
}

/** What the undo of a change needs, by the name of its object. */
export function questionsOfUndo({ resolved, way, recreates }: Omit<Decided, 'approximate'>): readonly AccessQuestion[] {
  const verbs = new Set(['get', ...(recreates === true ? recreating : undo[verbOf(way)])]);
  const { name } = resolved.target;
  return [...verbs].map((verb) => (verb === 'create' ? questionOf(resolved, verb) : { ...questionOf(resolved, verb), name }));
}

function grouped(resolved: readonly Resolved[], ask: (one: Resolved) => readonly Asked[]): readonly Need[] {
  return merged(resolved.flatMap((one) => ask(one).map((need): Need => ({ ...need, by: [one] }))));
}

/** Each permission once. What a change needs is not needed by an undo alone, whichever of them comes first. */
export function merged(needs: readonly Need[]): readonly Need[] {
  const groups = Map.groupBy(needs, ({ question }) => JSON.stringify(question));
  return [...groups.values()].flatMap((same) => {
    const [first] = same;
    if (first === undefined) return [];
    const purpose = (['change', 'undo'] as const).find((one) => same.some((need) => need.purpose === one)) ?? 'gate';
    return [{ question: first.question, by: [...new Set(same.flatMap(({ by }) => by))], purpose } as const];
  });
}

function asked(resolved: Resolved, verbs: readonly string[], purpose: Purpose): readonly Asked[] {
  return verbs.map((verb) => ({ question: questionOf(resolved, verb), purpose }));
}

function questionOf({ resource, target: { namespace } }: Resolved, verb: string): AccessQuestion {
  const place = namespace === undefined ? {} : { namespace };
  return { verb, group: resource.group, resource: resource.plural, ...place };
}

function questionsOf(resolved: Resolved): readonly Asked[] {
  const { change, resource, target } = resolved;
  const way = ownWayOf(resolved);
  const own = new Set(['get', verbOf(way ?? change.type), verbOf(change.type)]);
  const back = way === undefined ? [] : undo[verbOf(way)].filter((verb) => !own.has(verb));
  const all = [...asked(resolved, [...own], 'change'), ...asked(resolved, back, 'undo')];
  return [...all, ...containerQuestions(way, resource, target.name)];
}

/** The way of the change; undefined if it depends on the object (needsOfWays). */
function ownWayOf({ change }: Resolved): Way | undefined {
  return change.restore?.way ?? onlyWayOf(change.type);
}

function containerQuestions(way: Way | undefined, { group, kind }: Resource, name: string): readonly Asked[] {
  if (way !== 'Create') return [];
  return questionsOfContents({ group, kind, name }).map((question) => ({ question, purpose: 'undo' }));
}

/**
 * The undo deletes a created Namespace or CustomResourceDefinition only if it may list the objects in it. It also reads the
 * ServiceAccount that Kubernetes puts into the Namespace, because managedFields may not show whether others have written to it.
 */
export function questionsOfContents({ group, kind, name }: Container): readonly AccessQuestion[] {
  if (group === '' && kind === 'Namespace')
    return [
      { verb: 'list', group: '*', resource: '*', namespace: name },
      { verb: 'get', group: '', resource: 'serviceaccounts', namespace: name, name: 'default' },
    ];
  if (group !== 'apiextensions.k8s.io' || kind !== 'CustomResourceDefinition') return [];
  const [plural = '', ...rest] = name.split('.');
  return [{ verb: 'list', group: rest.join('.'), resource: plural }];
}

interface Container {
  readonly group: string;
  readonly kind: string;
  readonly name: string;
}

/** What must be readable so that the contents can be read (contentFrom). */
export function needsOfSources({ changes, namespace }: Pick<Transaction, 'changes' | 'namespace'>): readonly AccessQuestion[] {
  const questions = changes.flatMap((change): readonly AccessQuestion[] => {
    const source = sourceOf(change);
    if (source === undefined) return [];
    return [
      { verb: 'get', group: '', resource: source.kind === 'Secret' ? 'secrets' : 'configmaps', namespace, name: source.name },
    ];
  });
  return [...new Map(questions.map((question) => [JSON.stringify(question), question])).values()];
}

/** The same review for one object name, for the case that the general one is denied. A create has no name to review. */
export function byName(question: AccessQuestion, name: string): AccessQuestion | undefined {
  return question.verb === 'create' || question.verb === 'list' ? undefined : { ...question, name };
}

/** One sentence for each missing permission. */
export function gapFaults(gaps: readonly AccessQuestion[], who: string): readonly Fault[] {
  return gaps.map((gap) => fault('Forbidden', `${who} may not ${describeQuestion(gap)}`));
}

export function describeQuestion({ verb, group, resource, namespace, name }: AccessQuestion): string {
  const kind = group === '' ? resource : `${resource}.${group}`;
  return `${verb} ${kind}${name === undefined ? '' : ` "${name}"`}${namespace === undefined ? '' : ` in namespace ${namespace}`}`;
}

/** `account` as namespace/name. */
export function missingAccount(account: string): Fault {
  return fault(
    'ServiceAccountMissing',
    `ServiceAccount ${account} does not exist: create it (for manifests: janus rbac prints it, with its rights), then recreate the Transaction`,
  );
}
