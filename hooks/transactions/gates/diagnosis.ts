// Why a gate has ended badly, in words: for people, stored once, nothing follows from it.
//
// For a sealed object, it shows only types, statuses and reasons in CamelCase. Names of Pods and containers, messages, exit codes
// and the texts of Events are content. Readers of the Transaction must not learn this content.
import type { FailureReason } from '../../objects/failure.ts';
import { type JsonObject, textAt } from '../../objects/json.ts';
import { parseTime } from '../../objects/time.ts';
import { cut, foreign } from '../../objects/words.ts';
import { longestFound } from '../model/gate.ts';
import { ailingOf, type PodFailure, worstPod } from './unready-pods.ts';
import { conditionOf } from './verdict.ts';

export interface Evidence {
  /** As it was found last. */
  readonly object: JsonObject;
  /** Of a Deployment: its newest. */
  readonly replicaSet?: JsonObject | undefined;
  /** The Pods of the object; absent if its kind has no Pods, or if the engine could not read them. */
  readonly pods?: readonly JsonObject[] | undefined;
  /** Of the object, the ReplicaSet and the worst Pod: those of type Warning. */
  readonly events: readonly JsonObject[];
  readonly unread: readonly Unread[];
  /** isSealed of model/entry.ts. */
  readonly sealed: boolean;
}

/** What could not be read. */
export interface Unread {
  readonly what: string;
  readonly reason: FailureReason;
}

/** In UTF-16 units. */
export const longestDiagnosis = 600;

const longestDetail = 160;
const longestName = 80;
const mostEvents = 3;

/** At most `longestDiagnosis`, cleaned; empty if the engine found nothing. */
export function describeDiagnosis(evidence: Evidence): string {
  const words = evidence.sealed ? sealedWords : openWords;
  const found = [
    ...replicaFailure(evidence, words),
    ...podWords(evidence, words),
    ...evidence.unread.map(({ what, reason }) => `${what} could not be read (${reason})`),
    ...finalConditions(evidence.object),
    ...eventWords(evidence, words),
  ];
  return cut([...new Set(found)].map((one) => `${one}.`).join(' '), longestDiagnosis);
}

/** How what others wrote may be repeated. */
interface Words {
  readonly name: (text: string | undefined) => string;
  readonly detail: (text: string | undefined) => string;
  readonly exitCode: (code: number) => string;
}

const openWords: Words = {
  name: (text) => (text === undefined || text === '' ? '' : ` ${foreign(text, longestName)}`),
  detail: (text) => (text === undefined || text === '' ? '' : `: ${foreign(text, longestDetail).replace(/\.+$/, '')}`),
  exitCode: (code) => ` with exit code ${code}`,
};

const sealedWords: Words = { name: () => '', detail: () => '', exitCode: () => '' };

const camelCase = /^[A-Z][A-Za-z0-9]{0,63}$/;

// Any writer may write a reason: the diagnosis leaves out a text that does not have the form of a reason.
function because(reason: string | undefined): string {
  return reason !== undefined && camelCase.test(reason) ? ` (${reason})` : '';
}

// A Deployment repeats the condition of its ReplicaSet.
function replicaFailure({ object, replicaSet }: Evidence, words: Words): readonly string[] {
  const owner = replicaSet ?? object;
  const condition = conditionOf(owner, 'ReplicaFailure');
  if (textAt(condition, 'status') !== 'True') return [];
  const whose = replicaSet === undefined ? '' : `ReplicaSet${words.name(nameOf(replicaSet))}: `;
  return [`${whose}ReplicaFailure=True${because(textAt(condition, 'reason'))}${words.detail(textAt(condition, 'message'))}`];
}

// Of other kinds `Progressing` may well be False once all is done.
const final = [
  { kind: 'Deployment', type: 'Progressing', status: 'False' },
  { kind: 'Job', type: 'Failed', status: 'True' },
] as const;

function finalConditions(object: JsonObject): readonly string[] {
  return final.flatMap(({ kind, type, status }) => {
    const condition = textAt(object, 'kind') === kind ? conditionOf(object, type) : undefined;
    return textAt(condition, 'status') === status ? [`${type}=${status}${because(textAt(condition, 'reason'))}`] : [];
  });
}

function podWords({ pods }: Evidence, words: Words): readonly string[] {
  if (pods === undefined) return [];
  if (pods.length === 0) return ['There is no Pod'];
  const worst = worstPod(pods);
  return worst === undefined ? [] : [ailingWords(worst, words)];
}

/**
 * A Pod that is not ready, with its node; at most `longestFound` characters, cleaned. The cause comes first: a row of a terminal shows only
 * the beginning. `sealed`: isSealed of model/entry.ts.
 */
export function describePod(pod: JsonObject, sealed: boolean): string {
  const [ailing, words] = [ailingOf(pod), sealed ? sealedWords : openWords];
  if (ailing === undefined) return foreign(`Pod${words.name(nameOf(pod))}`, longestFound);
  const { reason, message, ended } = ailing;
  if (reason === undefined || !camelCase.test(reason)) return foreign(ailingWords(ailing, words), longestFound);
  const why = ended === undefined ? words.detail(message) : `: ended${endWords(ended, words)}`;
  const place = ` (${[`Pod${placeOf(ailing, words)}`, containerOf(ailing, words)].filter((one) => one !== '').join(', ')})`;
  return `${foreign(`${reason}${why}`, longestFound - place.length)}${foreign(place, longestFound)}`;
}

function ailingWords(ailing: PodFailure, words: Words): string {
  return `Pod${placeOf(ailing, words)}${describeAiling(ailing, words)}`;
}

function placeOf({ pod }: PodFailure, words: Words): string {
  const node = words.name(textAt(pod, 'spec', 'nodeName'));
  return `${words.name(nameOf(pod))}${node === '' ? '' : ` on node${node}`}`;
}

function describeAiling(ailing: PodFailure, words: Words): string {
  const { ailment, reason, message, ended } = ailing;
  const container = containerOf(ailing, words);
  switch (ailment) {
    case 'waiting':
      return `: ${container} is waiting${because(reason)}${
        ended === undefined ? words.detail(message) : `, ended before${endWords(ended, words)}`
      }`;
    case 'terminated':
      return ended === undefined
        ? ` has failed${because(reason)}${words.detail(message)}`
        : `: ${container} ended${endWords(ended, words)}`;
    case 'unscheduled':
      return ` is not scheduled${because(reason)}${words.detail(message)}`;
    default:
      return `${container === '' ? '' : `: ${container}`} is not ready${because(reason)}`;
  }
}

function containerOf({ container }: PodFailure, words: Words): string {
  if (container === undefined) return '';
  return `${container.isInit ? 'init container' : 'container'}${words.name(container.name)}`;
}

function endWords({ exitCode, reason }: NonNullable<PodFailure['ended']>, words: Words): string {
  return `${words.exitCode(exitCode)}${because(reason)}`;
}

function eventWords(evidence: Evidence, words: Words): readonly string[] {
  const kinds = kindsByUid(evidence);
  const last = [...evidence.events].sort((left, right) => timeOf(right) - timeOf(left)).slice(0, mostEvents);
  const described = last.map((event) => {
    const about = kinds.get(textAt(event, 'involvedObject', 'uid') ?? '') ?? 'object';
    return `${about}${because(textAt(event, 'reason'))}${words.detail(textAt(event, 'message'))}`;
  });
  return described.length === 0 ? [] : [`Last Warning Events: ${[...new Set(described)].join('; ')}`];
}

function kindsByUid({ object, replicaSet, pods = [] }: Evidence): ReadonlyMap<string, string> {
  const uidOf = (one: JsonObject | undefined): string => textAt(one, 'metadata', 'uid') ?? '';
  return new Map([
    ...pods.map((pod) => [uidOf(pod), 'Pod'] as const),
    [uidOf(replicaSet), 'ReplicaSet'],
    [uidOf(object), foreign(textAt(object, 'kind') ?? '', 63)],
  ]);
}

// Newer clients write eventTime and series, older ones lastTimestamp; the last one may be null.
function timeOf(event: JsonObject): number {
  const times = [
    textAt(event, 'series', 'lastObservedTime'),
    textAt(event, 'lastTimestamp'),
    textAt(event, 'eventTime'),
    textAt(event, 'metadata', 'creationTimestamp'),
  ];
  return times.map((time) => parseTime(time)).find((time) => time !== undefined) ?? 0;
}

function nameOf(object: JsonObject): string | undefined {
  return textAt(object, 'metadata', 'name');
}
