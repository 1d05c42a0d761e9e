// Why a gate has ended badly, in words: for people, stored once, nothing follows from it.
//
// For a sealed object, it shows only types, statuses and reasons in CamelCase. Names of Pods and containers, messages, exit codes
// and the texts of Events are content. Readers of the Transaction must not learn this content.
import type { FailureReason } from '../../objects/failure.ts';
import { at, type Json, type JsonObject, listAt, textAt } from '../../objects/json.ts';
import { parseTime } from '../../objects/time.ts';
import { cut, foreign } from '../../objects/words.ts';
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
  return worst === undefined ? [] : [`Pod${words.name(nameOf(worst.pod))}${describeAiling(worst, words)}`];
}

function describeAiling(ailing: Ailing, words: Words): string {
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

function containerOf({ container }: Ailing, words: Words): string {
  if (container === undefined) return '';
  return `${container.isInit ? 'init container' : 'container'}${words.name(container.name)}`;
}

function endWords({ exitCode, reason }: NonNullable<Ailing['ended']>, words: Words): string {
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

// The Pod that says most about why an object is not ready. `terminated.message` and logs are not read: they hold what programs print.

/** From the worst to the least. */
const ailments = ['waiting', 'terminated', 'unscheduled', 'notReady'] as const;

interface Ailing {
  readonly pod: JsonObject;
  readonly ailment: (typeof ailments)[number];
  /** Absent if the trouble is about the Pod as a whole. */
  readonly container?: { readonly name: string; readonly isInit: boolean };
  /** As it was written by others, like `message`. */
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
  /** How the container ended, this time or the last one. */
  readonly ended?: { readonly exitCode: number; readonly reason: string | undefined };
}

/** The worst Pod, and of equally bad Pods the newest; undefined if no Pod is amiss. Pods that are being deleted do not count. */
export function worstPod(pods: readonly JsonObject[]): Ailing | undefined {
  const staying = pods.filter((pod) => textAt(pod, 'metadata', 'deletionTimestamp') === undefined);
  return staying.map(ailingOf).filter(isAiling).sort(byWeight)[0];
}

function isAiling(ailing: Ailing | undefined): ailing is Ailing {
  return ailing !== undefined;
}

function byWeight(left: Ailing, right: Ailing): number {
  const rank = ailments.indexOf(left.ailment) - ailments.indexOf(right.ailment);
  return rank === 0 ? compare(ageOf(right), ageOf(left)) : rank;
}

function ageOf({ pod }: Ailing): string {
  return `${textAt(pod, 'metadata', 'creationTimestamp')} ${textAt(pod, 'metadata', 'name')}`;
}

function compare(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

function ailingOf(pod: JsonObject): Ailing | undefined {
  const phase = textAt(pod, 'status', 'phase');
  if (phase === 'Succeeded') return undefined;
  const containers = containersOf(pod);
  return waiting(pod, containers) ?? terminated(pod, containers, phase) ?? unscheduled(pod) ?? notReady(pod, containers);
}

interface Container {
  readonly name: string;
  readonly isInit: boolean;
  readonly isReady: boolean;
  readonly status: Json;
}

// Init containers first: the others wait for them.
function containersOf(pod: JsonObject): readonly Container[] {
  const read = (key: string, isInit: boolean): readonly Container[] => {
    return listAt(pod, 'status', key).map((status) => ({
      name: textAt(status, 'name') ?? '',
      isInit,
      isReady: at(status, 'ready') === true,
      status,
    }));
  };
  return [...read('initContainerStatuses', true), ...read('containerStatuses', false)];
}

/** Why a container waits on its ordinary way to its start. Source: k8s.io/kubernetes pkg/kubelet/kubelet_pods.go. */
const ordinary: readonly (string | undefined)[] = [undefined, '', 'ContainerCreating', 'PodInitializing'];

function waiting(pod: JsonObject, containers: readonly Container[]): Ailing | undefined {
  const container = containers.find(({ status }) => !ordinary.includes(textAt(status, 'state', 'waiting', 'reason')));
  if (container === undefined) return undefined;
  const state = at(container.status, 'state', 'waiting');
  const ended = endOf(at(container.status, 'lastState', 'terminated'));
  const why = { reason: textAt(state, 'reason'), message: textAt(state, 'message') };
  return { pod, ailment: 'waiting', container, ...why, ...(ended === undefined ? {} : { ended }) };
}

// A container that has just been started again is not ready, and its last state says why.
function terminated(pod: JsonObject, containers: readonly Container[], phase: string | undefined): Ailing | undefined {
  for (const container of containers) {
    const { status, isReady } = container;
    const last = isReady ? undefined : endOf(at(status, 'lastState', 'terminated'));
    const ended = endOf(at(status, 'state', 'terminated')) ?? last;
    if (ended !== undefined) return { pod, ailment: 'terminated', container, ended };
  }
  if (phase !== 'Failed') return undefined;
  const why = { reason: textAt(pod, 'status', 'reason'), message: textAt(pod, 'status', 'message') };
  return { pod, ailment: 'terminated', ...why };
}

function endOf(state: Json | undefined): Ailing['ended'] {
  const exitCode = at(state, 'exitCode');
  return typeof exitCode === 'number' && exitCode !== 0 ? { exitCode, reason: textAt(state, 'reason') } : undefined;
}

function unscheduled(pod: JsonObject): Ailing | undefined {
  const scheduled = conditionOf(pod, 'PodScheduled');
  if (textAt(scheduled, 'status') !== 'False') return undefined;
  return { pod, ailment: 'unscheduled', reason: textAt(scheduled, 'reason'), message: textAt(scheduled, 'message') };
}

function notReady(pod: JsonObject, containers: readonly Container[]): Ailing | undefined {
  const ready = conditionOf(pod, 'Ready');
  if (textAt(ready, 'status') === 'True') return undefined;
  const container = containers.find(({ isReady }) => !isReady);
  const reason = textAt(container?.status, 'state', 'waiting', 'reason') ?? textAt(ready, 'reason');
  return { pod, ailment: 'notReady', reason, ...(container === undefined ? {} : { container }) };
}
