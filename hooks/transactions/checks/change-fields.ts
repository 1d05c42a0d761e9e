// The members of a change beside target and content, as they are written: each member only if it has a meaning there.
import { kubernetesManagers } from '../../objects/content/controller-writes.ts';
import { at, equalJson, isList, isObject, type Json, textAt } from '../../objects/json.ts';
import { describe } from '../../objects/reference.ts';
import { foreign } from '../../objects/words.ts';
import { type Change, typesWith } from '../model/change.ts';
import { longestManager } from '../model/transaction.ts';
import { type Fault, fault } from './fault.ts';
import type { Resolved } from './targets.ts';
import { undoMessages } from './undo-options.ts';

const choices = {
  fieldConflicts: ['Force', 'Fail'],
  whenImmutable: ['Fail', 'Recreate'],
  replicas: ['KeepScaled', 'Set'],
} as const;

/** Their faults, in words; each fault begins with the name of the member. */
export function changeFieldMessages(change: Change): readonly string[] {
  const members = ['fieldConflicts', 'whenImmutable', 'replicas', 'undo'] as const;
  return [...members.flatMap((name) => memberMessages(change, name)), ...sourceMessages(change)];
}

function memberMessages(change: Change, name: keyof typeof choices | 'undo'): readonly string[] {
  const [value, types] = [change[name], typesWith(name)];
  if (value === undefined) return [];
  if (!types.includes(change.type)) {
    const listed = types.join(', ').replace(/, (\w+)$/, ' and $1');
    return [`${name}: has no meaning for ${article(change.type)}, only for ${listed}: leave it out`];
  }
  if (name === 'undo') return undoMessages(value);
  const values: readonly string[] = choices[name];
  return values.some((one) => one === value) ? [] : [`${name}: ${quoted(value)} is none of ${values.join(', ')}`];
}

export function article(type: string): string {
  return /^[AU]/.test(type) ? `an ${type}` : `a ${type}`;
}

const references = ['configMapKeyRef', 'secretKeyRef'] as const;
const keyPattern = /^[-._a-zA-Z0-9]{1,253}$/;
const namePattern = /^(?!\.{1,2}$)[^/%\p{Cc}\s]{1,253}$/u;
const digestPattern = /^sha256:[0-9a-f]{64}$/;

function sourceMessages({ type, content, contentFrom, isInferred }: Change): readonly string[] {
  if (contentFrom === undefined) return [];
  if (type === 'Delete') return ['contentFrom: a Delete has no content: leave it out'];
  const both = content === undefined ? [] : ['contentFrom: write content or contentFrom, not both'];
  const target = isInferred === true ? ['target: is required with contentFrom: write apiVersion, kind and name'] : [];
  return [...both, ...target, ...referenceMessages(contentFrom), ...digestMessages(contentFrom)];
}

function referenceMessages(source: Json): readonly string[] {
  const given = references.filter((name) => at(source, name) !== undefined);
  const [name] = given;
  if (!isObject(source) || given.length !== 1 || name === undefined)
    return [`contentFrom: write exactly one of ${references.join(' and ')}`];
  const [object, key] = [textAt(source, name, 'name') ?? '', textAt(source, name, 'key') ?? ''];
  return [
    ...(namePattern.test(object) ? [] : [`contentFrom.${name}.name: ${quoted(object)} is not a name that an object can have`]),
    ...(keyPattern.test(key) ? [] : [`contentFrom.${name}.key: ${quoted(key)} is not a key of data or binaryData`]),
  ];
}

function digestMessages(source: Json): readonly string[] {
  const digest = at(source, 'digest');
  if (digest === undefined)
    return at(source, 'configMapKeyRef') === undefined
      ? []
      : ['contentFrom.digest: is required with configMapKeyRef: write sha256: and the SHA-256 of the unpacked bytes'];
  return typeof digest === 'string' && digestPattern.test(digest)
    ? []
    : ['contentFrom.digest: write sha256: and 64 hexadecimal digits in lower case'];
}

/** The faults of the name under which each Apply writes. */
export function fieldManagerFaults(name: Json | undefined): readonly Fault[] {
  if (name === undefined) return [];
  const what = whatIsWrongWith(name);
  return what === undefined ? [] : [fault('Invalid', `spec.fieldManager ${what}`)];
}

// Source of the form: apimachinery, ValidateFieldManager.
function whatIsWrongWith(name: Json): string | undefined {
  if (typeof name !== 'string' || name === '') return 'must be a text, such as the name of the application';
  if (name.length > longestManager) return `has ${name.length} characters, at most ${longestManager} are allowed: shorten it`;
  if (!/^[\x20-\x7e]+$/.test(name)) return `${quoted(name)} has other than printable ASCII characters: write another name`;
  if (name.startsWith('janus'))
    return `${quoted(name)} begins with janus, which only managers of Transactions do: write another name`;
  return [...kubernetesManagers, 'ancient-changes'].includes(name)
    ? `${quoted(name)} is a manager of Kubernetes itself: write another name`
    : undefined;
}

/** What content alone shows of a change that takes its target from it, and cannot be one object; undefined if it can. */
export function notOneObject({ type, content, isInferred }: Change): string | undefined {
  if ((type !== 'Apply' && isInferred !== true) || !isObject(content)) return undefined;
  if (isList(at(content, 'items')) && /List$/.test(textAt(content, 'kind') ?? ''))
    return 'content is a list of objects: write one change for each of them';
  if (at(content, 'metadata', 'generateName') !== undefined)
    return `content.metadata.generateName: ${article(type)} requires the name of the object: write metadata.name in its place`;
  return undefined;
}

function quoted(value: Json): string {
  return isObject(value) || isList(value) ? 'this' : foreign(JSON.stringify(value), 60);
}

// A Patch is a server-side apply: a null removes no map that others fill, and makes a text empty. The API server takes it without a word.
// Pure. Source: sigs.k8s.io/structured-merge-diff typed/merge.go, mergingWalker.doMap.

const longest = 253;

/** Of a Patch that would be Committed and remove nothing. */
export function keptFault({ index, target, change: { type } }: Resolved, path: string): Fault {
  const what = `spec.changes[${index}]: ${type} of ${describe(target)}: content has null at ${foreign(path, longest)}, which removes nothing`;
  return fault('Invalid', `${what}: leave it out, or write an Update without ${foreign(path, longest)}`, index);
}

/** The path of a null after which a map stays as it was, or a text becomes empty; undefined if there is no such null. */
export function keptDespiteNull(
  content: Json | undefined,
  prior: Json | undefined,
  expected: Json | undefined,
): string | undefined {
  if (!isObject(content)) return undefined;
  for (const [key, value] of Object.entries(content)) {
    const [was, is] = [at(prior, key), at(expected, key)];
    if (value === null && isKept(was, is)) return key;
    const below = keptDespiteNull(value, was, is);
    if (below !== undefined) return `${key}.${below}`;
  }
  return undefined;
}

function isKept(was: Json | undefined, is: Json | undefined): boolean {
  return isObject(is) ? Object.keys(is).length > 0 && equalJson(was, is) : is === '' && was !== '';
}
