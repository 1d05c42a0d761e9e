// I16: nothing is written where the spec does not say so, and no value that does not come from the spec, from the API server and
// its webhooks, or from a user with rights on the object. Other writers of what the engine reads change nothing beyond it.
import { at, isList, isObject, type Json, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import type { AuditEvent } from './audit.ts';
import { type Evidence, hasSucceeded, isEngine, isSnapshot, isTarget, isWrite, targetIn, transactionsOf } from './evidence.ts';
import { placeOf } from './places.ts';
import { base64, homeOf } from './story.ts';

/** A text in everything that the adversary writes. */
export function plantedBy({ run }: Evidence['names']): string {
  return `planted in ${run}`;
}

export function authority(evidence: Evidence): readonly string[] {
  return [...beyondSpec(evidence), ...unfounded(evidence), ...planted(evidence), ...evidence.bystanders];
}

/** As the ServiceAccount, refused or not: targets only. As the engine: no ConfigMaps but its own. */
function beyondSpec(evidence: Evidence): readonly string[] {
  const own = ownSnapshots(evidence);
  const isWrong = (event: AuditEvent): boolean => {
    if (event.actor === 'account') return !isTarget(evidence, event);
    return event.actor === 'engine' && event.resource === 'configmaps' && !isOwn(evidence, event, own);
  };
  return evidence.events
    .filter((event) => isWrite(event) && isWrong(event))
    .map(({ verb, key, actor, code }) => `${verb} of ${key} as the ${actor}, answered ${code}: nothing names it`);
}

function isOwn(evidence: Evidence, event: AuditEvent, own: ReadonlySet<string>): boolean {
  if (event.verb !== 'create') return isUnder(own, event.key);
  return isSnapshot(event) && homesOf(evidence).includes(event.key.split(' ')[1]?.split('/')[0] ?? '');
}

/** Under a name that the engine used, or of a further part of it. */
function isUnder(own: ReadonlySet<string>, key: string): boolean {
  return own.has(key) || own.has(key.replace(/-\d{1,2}$/, ''));
}

function homesOf({ story, names }: Evidence): readonly string[] {
  return transactionsOf({ story, names }).map((key) => homeOf(names, key).namespace);
}

/** Keys of the ConfigMaps that the engine created: anybody who knows such a name learned it from them. */
function ownSnapshots({ events }: Evidence): ReadonlySet<string> {
  const made = events.filter(({ actor, verb }) => actor === 'engine' && verb === 'create');
  return new Set(made.filter((event) => isSnapshot(event) && hasSucceeded(event)).map(({ key }) => key));
}

/**
 * Every value that the engine writes to a target was there before, is in the spec, or came in an answer of the API server. For
 * other kinds the audit log has only requests, with the defaults that the API server filled in.
 */
function unfounded(evidence: Evidence): readonly string[] {
  const writes = evidence.events.filter(
    (event) => isWrite(event) && event.verb !== 'delete' && isTarget(evidence, event) && /^(configmaps|secrets) /.test(event.key),
  );
  const byTarget = Object.groupBy(writes, ({ key }) => key);
  return Object.entries(byTarget).flatMap(([key, events = []]) => unfoundedIn(events, new Set(foundations(evidence, key))));
}

/**
 * `given` grows with each answer: the engine's own writes were checked when they were sent. An update sends the whole object: what it holds
 * by then, whoever put it there, it keeps and does not write.
 */
function unfoundedIn(events: readonly AuditEvent[], given: Set<string>): readonly string[] {
  let held: readonly string[] = [];
  const strangeIn = (event: AuditEvent): readonly string[] => {
    const kept = event.verb === 'update' ? held : [];
    return isEngine(event) ? leavesOf(event.request).filter((leaf) => !given.has(leaf) && !kept.includes(leaf)) : [];
  };
  const learn = (event: AuditEvent): void => {
    if (!hasSucceeded(event)) return;
    held = leavesOf(event.response);
    if (event.actor !== 'adversary') for (const leaf of held) given.add(leaf);
  };
  return events.flatMap((event) => {
    const strange = strangeIn(event);
    learn(event);
    return strange.map((leaf) => `${event.verb} of ${event.key} writes ${leaf}: no writer put it there`);
  });
}

function foundations({ story, names, before }: Evidence, key: string): readonly string[] {
  const changes = Object.entries(story.transactions(names)).flatMap(([transaction, all]) =>
    all.filter((change) => placeOf(targetIn(change), homeOf(names, transaction).namespace).key === key),
  );
  const sourced = story.sourced?.(names);
  const contentOf = (change: JsonObject): Json =>
    at(change, 'content') ?? sourced?.get(textAt(change, 'target', 'name') ?? '') ?? {};
  const spoken = changes.flatMap((change) => leavesOf(asStored(contentOf(change))));
  return [...spoken, ...leavesOf(before.get(key) ?? {})];
}

/** The API server turns `stringData` of a Secret into data, and sets its type. */
function asStored(content: Json): JsonObject {
  const { stringData, data, ...others } = isObject(content) ? content : {};
  const texts = Object.entries(isObject(stringData) ? stringData : {});
  const encoded = Object.fromEntries(texts.map(([key, value]) => [key, base64(String(value))]));
  return { type: 'Opaque', ...others, data: { ...(isObject(data) ? data : {}), ...encoded } };
}

// The place of an object, and what the API server counts and stamps, is not content.
const stamps = [
  'name',
  'namespace',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'managedFields',
  'selfLink',
];

const ourMark = '/metadata/annotations/tx.janus.io/';

function leavesOf(object: Json): readonly string[] {
  if (!isObject(object)) return [];
  const { apiVersion: _group, kind: _kind, metadata, ...content } = object;
  const entries = isObject(metadata) ? Object.entries(metadata).filter(([key]) => !stamps.includes(key)) : [];
  return leaves({ ...content, metadata: Object.fromEntries(entries) }, '').filter((leaf) => !leaf.startsWith(ourMark));
}

function leaves(value: Json, path: string): readonly string[] {
  if (isList(value)) return value.flatMap((item) => leaves(item, `${path}[]`));
  if (isObject(value)) return Object.entries(value).flatMap(([key, item]) => leaves(item, `${path}/${key}`));
  return [`${path} ${JSON.stringify(value)}`];
}

/** Nothing that the adversary wrote is in a target, in a write of the engine, or in a text of the engine. */
function planted(evidence: Evidence): readonly string[] {
  const text = plantedBy(evidence.names);
  const shows = (value: unknown): boolean => {
    const said = JSON.stringify(value) ?? '';
    return said.includes(text) || said.includes(base64(text));
  };
  const own = ownSnapshots(evidence);
  const targets = [...evidence.after, ...evidence.finally]
    .filter(([, object]) => shows(object))
    .map(([key]) => `${key} holds it`);
  const sent = evidence.events
    .filter((event) => speaks(event, own) && shows(saidIn(event)))
    .map(({ verb, key }) => `a ${verb} of ${key} holds it`);
  const reported = evidence.reports.filter(shows).map(({ step }) => `the report of a ${step} holds it`);
  return [...targets, ...sent, ...reported].map((found) => `what was planted: ${found}`);
}

/** The engine writes back an object under the name of a snapshot unchanged, without our finalizer. */
function speaks(event: AuditEvent, own: ReadonlySet<string>): boolean {
  const isSentBack = isUnder(own, event.key) && event.verb === 'update';
  return (isEngine(event) && !isSentBack) || event.resource === 'transactions/status';
}

function saidIn({ resource, request }: AuditEvent): Json {
  return resource === 'transactions/status' ? (at(request, 'status') ?? null) : request;
}
