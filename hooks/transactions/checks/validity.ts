// Checks a Transaction without reading the cluster. The CRD and the admission policy check most of this too, but the hook must work
// without them. Another CRD may be installed, or an administrator may have added the policy later.

import { at, isDeeperThan, isObject, type JsonObject, mostLevels, textAt } from '../../objects/json.ts';
import { limits } from '../../objects/limits.ts';
import { groupOf, isSecret } from '../../objects/reference.ts';
import { wrongEntryOf } from '../../objects/secret-data.ts';
import { howToAllow } from '../hazards/messages.ts';
import { type Change, changeTypes, typesWith, verbOf } from '../model/change.ts';
import { isFromSecret } from '../model/source.ts';
import { annotations, mayBreak, type Transaction } from '../model/transaction.ts';
import { article, changeFieldMessages, fieldManagerFaults, notOneObject } from './change-fields.ts';
import { durationFaults } from './durations.ts';
import { type Fault, fault } from './fault.ts';
import { gateFaults } from './gates.ts';
import { takeOverFaults } from './take-over.ts';
import { dnsName, type Message, printable, targetMessages } from './target-names.ts';
import { undoFaults } from './undo-options.ts';
import { waveFaults } from './waves.ts';

export const mostChanges: number = limits.changes.value;

export const longestName: number = limits.name.value;

export const largestStored: number = limits.stored.value;
/** Bytes that the status may grow to: a fixed part, and for each change its lock, its error and its drift. */
export const statusSize = { own: 100_000, change: 800 } as const;

/** Fewer levels than the engine can process, since content lies inside other levels. */
const mostContentLevels = mostLevels - 10;

/** Every fault that the Transaction alone shows. */
export function staticFaults(transaction: Transaction): readonly Fault[] {
  const { changes, serviceAccountName } = transaction;
  const all: Fault[] = [];
  if (changes.length === 0 && transaction.rollback === undefined)
    all.push(fault('Invalid', 'spec.changes is empty: list at least one change'));
  if (changes.length > mostChanges)
    all.push(fault('Invalid', `spec.changes has ${changes.length} entries, at most ${mostChanges} are allowed`));
  if (!dnsName.test(serviceAccountName)) {
    all.push(fault('Invalid', `spec.serviceAccountName "${printable(serviceAccountName)}" is not the name of a ServiceAccount`));
  }
  all.push(...nameFaults(transaction), ...durationFaults(transaction), ...sizeFaults(transaction));
  all.push(...fieldManagerFaults(transaction.fieldManager), ...takeOverFaults(transaction), ...undoFaults(transaction.undo));
  const gated = changes.map((change) => ({ change, gate: change.gate }));
  all.push(...gateFaults(transaction.gate, gated), ...waveFaults(transaction));
  return [...all, ...changes.slice(0, mostChanges).flatMap((change, index) => changeFaults(change, index, transaction))];
}

function nameFaults({ name }: Transaction): readonly Fault[] {
  if (name.length <= longestName) return [];
  return [
    fault('Invalid', `metadata.name has ${name.length} characters, at most ${longestName} are allowed: choose a shorter one`),
  ];
}

// The API server stores the status in the object of the spec. Without room for it, the Transaction could start but not record its
// progress.
function sizeFaults({ size, changes }: Transaction): readonly Fault[] {
  const most = largestStored - statusSize.own - statusSize.change * changes.length;
  if (size <= most) return [];
  const message = `spec and annotations take ${size} bytes, at most ${most} leave room for the status of ${changes.length} changes: split the Transaction`;
  return [fault('TransactionTooLarge', message)];
}

function changeFaults(change: Change, index: number, transaction: Transaction): readonly Fault[] {
  // The engine has made it.
  if (change.restore !== undefined) return [];
  const wrongType = typeMessages(change);
  const messages = [
    ...wrongType,
    ...targetMessages(change),
    ...(wrongType.length > 0 ? [] : contentMessages(change)),
    ...changeFieldMessages(change).map((message): Message => ['Invalid', message]),
    ...irreversibleMessages(change, transaction),
  ];
  return messages.map(([reason, message]) => fault(reason, `spec.changes[${index}]: ${message}`, index));
}

function typeMessages({ type }: Change): readonly Message[] {
  const isKnown = changeTypes.some((known) => known === type);
  return isKnown ? [] : [['Invalid', `type "${printable(type)}" is none of ${changeTypes.join(', ')}`]];
}

/** The same of the contents that come from sources, once they are read. */
export function sourcedFaults({ changes }: Transaction): readonly Fault[] {
  return changes.flatMap((change, index) => {
    if (change.contentFrom === undefined || change.content === undefined) return [];
    const wrong = notOneObject(change);
    const messages = wrong === undefined ? contentMessages(change) : ([['Invalid', wrong]] as const);
    return messages.map(([reason, text]) => fault(reason, `spec.changes[${index}].contentFrom: its ${text}`, index));
  });
}

function contentMessages(change: Change): readonly Message[] {
  const { type, content, contentFrom } = change;
  if (isDeeperThan(content, mostContentLevels))
    return [['Invalid', `content is nested deeper than ${mostContentLevels} levels, the maximum`]];
  if (!typesWith('content').includes(type) || (contentFrom !== undefined && content === undefined)) return [];
  if (!isObject(content)) return [['Invalid', `content must be an object${intent(change)}`]];
  const metadata = at(content, 'metadata');
  if (metadata !== undefined && !isObject(metadata)) return [['Invalid', 'content.metadata must be an object']];
  const forbidden = forbiddenMetadata(type).filter((key) => at(metadata, key) !== undefined);
  return [
    ...disagreements(change, content),
    ...forbidden.map((key): Message => ['Invalid', `content.metadata.${key} cannot be set by ${article(type)}: leave it out`]),
    ...markMessages(metadata),
    ...secretMessages(change, content),
  ];
}

function intent({ type, target: { kind, name } }: Change): string {
  return kind === '' ? '' : `, for ${type} of ${kind} ${printable(name)}`;
}

function disagreements(change: Change, content: JsonObject): readonly Message[] {
  const { target } = change;
  const metadata = at(content, 'metadata');
  const agreeing = [
    ['apiVersion', textOrOther(content, 'apiVersion'), target.apiVersion],
    ['kind', textOrOther(content, 'kind'), target.kind],
    ['metadata.name', textOrOther(metadata, 'name'), target.name],
    ['metadata.namespace', textOrOther(metadata, 'namespace'), target.namespace],
  ] as const;
  // The target has its own message for what it lacks.
  const wrong = agreeing.filter(([, found, wanted = '']) => found !== undefined && wanted !== '' && found !== wanted);
  return wrong.map(([path, found, wanted]) => [
    'Invalid',
    `content.${path} is ${isFromSecret(change) ? 'another' : `"${printable(found ?? '')}"`}, the target says "${wanted}": leave it out of content`,
  ]);
}

function secretMessages(change: Change, content: JsonObject): readonly Message[] {
  const wrong = isSecret(change.target) ? wrongEntryOf(content) : undefined;
  if (wrong === undefined) return [];
  // Keys of what comes from a Secret are a part of its value.
  const place = isFromSecret(change) ? '[…]' : `["${printable(wrong.key)}"]`;
  return [['InvalidContent', `content.${wrong.field}${place} ${wrong.why}`]];
}

// Only what replaces the whole object may say which version it replaces.
function forbiddenMetadata(type: Change['type']): readonly string[] {
  return [...(verbOf(type) === 'update' ? [] : ['resourceVersion']), 'uid', 'managedFields'];
}

// Only the engine says whose work an object is.
function markMessages(metadata: Parameters<typeof at>[0]): readonly Message[] {
  const { appliedBy } = annotations;
  const written = at(metadata, 'annotations');
  if (written !== undefined && written !== null && !isObject(written))
    return [['Invalid', 'content.metadata.annotations is no map of names to texts: write one, or leave it out']];
  if (at(metadata, 'annotations', appliedBy) === undefined) return [];
  return [['Invalid', `content.metadata.annotations["${appliedBy}"] is set by the engine: leave it out`]];
}

function textOrOther(object: Parameters<typeof at>[0], key: string): string | undefined {
  const found = at(object, key);
  return found === undefined ? undefined : (textAt(object, key) ?? JSON.stringify(found));
}

// A request for a certificate is of whoever creates it, and unapproved.
// Source: k8s.io/kubernetes pkg/registry/certificates/certificates/strategy.go, PrepareForCreate.
const lostForGood: readonly string[] = [
  'certificates.k8s.io/CertificateSigningRequest',
  'certificates.k8s.io/PodCertificateRequest',
  '/Namespace',
  '/PersistentVolumeClaim',
  '/PersistentVolume',
  'apiextensions.k8s.io/CustomResourceDefinition',
];

/** Whether no undo can recreate what goes with an object of that kind. */
export function isLostForGood({ apiVersion, kind }: Pick<Change['target'], 'apiVersion' | 'kind'>): boolean {
  return lostForGood.includes(`${groupOf(apiVersion)}/${kind}`);
}

function irreversibleMessages({ type, target }: Change, transaction: Transaction): readonly Message[] {
  const isAllowed = mayBreak(transaction);
  if (type !== 'Delete' || isAllowed || !isLostForGood(target)) return [];
  return [['Irreversible', `deleting ${target.kind} ${target.name} cannot be undone: ${howToAllow}`]];
}
