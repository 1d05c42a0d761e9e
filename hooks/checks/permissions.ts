// The permissions that the ServiceAccount needs, for the changes and for their undo. They are reviewed before the first lock.
import type { AccessQuestion, Resource } from '../cluster.ts';
import type { ChangeType, Way } from '../model/change.ts';
import { type Fault, fault } from './fault.ts';
import type { Resolved } from './targets.ts';

// What an Apply needs beside that depends on its way (needsOfWays).
const forward: Readonly<Record<ChangeType, readonly string[]>> = {
  Create: ['get', 'create'],
  Update: ['get', 'update'],
  Patch: ['get', 'patch'],
  Delete: ['get', 'delete'],
  Apply: ['get', 'patch'],
};

const undo: Readonly<Record<ChangeType, readonly string[]>> = {
  Create: ['delete'],
  Update: ['update'],
  Patch: ['update'],
  Delete: ['create', 'update'],
  Apply: [],
};

// Forward and back.
const recreating: readonly string[] = ['delete', 'create', 'update'];

/** One permission, and the changes that need it. */
export interface Need {
  readonly question: AccessQuestion;
  readonly by: readonly Resolved[];
}

/** One review for each verb, resource and namespace: 500 changes must not cost 2 000 reviews. */
export function needsOf(resolved: readonly Resolved[]): readonly Need[] {
  return grouped(resolved, questionsOf);
}

/** A change whose way is known. */
interface Decided {
  readonly resolved: Resolved;
  readonly way: Way;
  /** Whether no dry run has shown that the ServiceAccount may make the change. */
  readonly approximate: boolean;
  readonly recreates?: true;
}

/** What each Apply, and what recreates its object, needs for its way, beyond needsOf and what its dry run has shown. */
export function needsOfWays(all: readonly Decided[]): readonly Need[] {
  const decided = new Map(all.map((one) => [one.resolved, one]));
  return grouped([...decided.keys()], (resolved) => {
    const one = decided.get(resolved);
    if (one?.recreates === true) return recreating.map((verb) => questionOf(resolved, verb));
    return one === undefined || resolved.change.type !== 'Apply' ? [] : questionsOfWay(one);
  });
}

function questionsOfWay({ resolved, way, approximate }: Decided): readonly AccessQuestion[] {
  const creating = approximate && way === 'Create' ? ['create'] : [];
  const own = [...creating, ...undo[way]].map((verb) => questionOf(resolved, verb));
  return [...own, ...containerQuestions(way, resolved.resource, resolved.target.name)];
}

function grouped(resolved: readonly Resolved[], ask: (one: Resolved) => readonly AccessQuestion[]): readonly Need[] {
  const needs = new Map<string, Need>();
  for (const one of resolved) {
    for (const question of ask(one)) {
      const key = JSON.stringify(question);
      needs.set(key, { question, by: [...(needs.get(key)?.by ?? []), one] });
    }
  }
  return [...needs.values()];
}

function questionOf({ resource, target: { namespace } }: Resolved, verb: string): AccessQuestion {
  const place = namespace === undefined ? {} : { namespace };
  return { verb, group: resource.group, resource: resource.plural, ...place };
}

function questionsOf(resolved: Resolved): readonly AccessQuestion[] {
  const { change, resource, target } = resolved;
  const verbs = [...new Set([...forward[change.type], ...undo[change.type]])];
  const own = verbs.map((verb) => questionOf(resolved, verb));
  return [...own, ...containerQuestions(change.type, resource, target.name)];
}

// The undo deletes a created Namespace or CustomResourceDefinition only if it holds no objects of others: the ServiceAccount must
// be able to see that.
function containerQuestions(type: ChangeType, resource: Resource, name: string): readonly AccessQuestion[] {
  if (type !== 'Create') return [];
  if (resource.group === '' && resource.kind === 'Namespace')
    return [{ verb: 'list', group: '*', resource: '*', namespace: name }];
  if (resource.group !== 'apiextensions.k8s.io' || resource.kind !== 'CustomResourceDefinition') return [];
  const [plural, ...group] = name.split('.');
  return [{ verb: 'list', group: group.join('.'), resource: plural ?? '' }];
}

/** The same review for one object name, for the case that the general one is denied. A create has no name to review. */
export function byName(question: AccessQuestion, name: string): AccessQuestion | undefined {
  return question.verb === 'create' || question.verb === 'list' ? undefined : { ...question, name };
}

/** One sentence for each missing permission. */
export function gapFaults(gaps: readonly AccessQuestion[], serviceAccount: string): readonly Fault[] {
  return gaps.map((gap) => fault('Forbidden', `ServiceAccount ${serviceAccount} may not ${describeQuestion(gap)}`));
}

function describeQuestion({ verb, group, resource, namespace, name }: AccessQuestion): string {
  const kind = group === '' ? resource : `${resource}.${group}`;
  return `${verb} ${kind}${name === undefined ? '' : ` "${name}"`}${namespace === undefined ? '' : ` in namespace ${namespace}`}`;
}

/** `account` as namespace/name. */
export function missingAccount(account: string): Fault {
  return fault('ServiceAccountMissing', `ServiceAccount ${account} does not exist: create it, then recreate the Transaction`);
}
