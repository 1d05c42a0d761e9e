// The Pod that says most about why an object is not ready. `terminated.message` and logs are not read: they hold what programs print.
import { at, type Json, type JsonObject, listAt, textAt } from '../../objects/json.ts';
import { conditionOf } from './verdict.ts';

/** From the worst to the least. */
const ailments = ['waiting', 'terminated', 'unscheduled', 'notReady'] as const;

export interface PodFailure {
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
export function worstPod(pods: readonly JsonObject[]): PodFailure | undefined {
  const staying = pods.filter((pod) => textAt(pod, 'metadata', 'deletionTimestamp') === undefined);
  return staying.map(ailingOf).filter(isFailure).sort(byWeight)[0];
}

function isFailure(ailing: PodFailure | undefined): ailing is PodFailure {
  return ailing !== undefined;
}

function byWeight(left: PodFailure, right: PodFailure): number {
  const rank = ailments.indexOf(left.ailment) - ailments.indexOf(right.ailment);
  return rank === 0 ? compare(ageOf(right), ageOf(left)) : rank;
}

function ageOf({ pod }: PodFailure): string {
  return `${textAt(pod, 'metadata', 'creationTimestamp')} ${textAt(pod, 'metadata', 'name')}`;
}

function compare(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

export function ailingOf(pod: JsonObject): PodFailure | undefined {
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

function waiting(pod: JsonObject, containers: readonly Container[]): PodFailure | undefined {
  const container = containers.find(({ status }) => !ordinary.includes(textAt(status, 'state', 'waiting', 'reason')));
  if (container === undefined) return undefined;
  const state = at(container.status, 'state', 'waiting');
  const ended = endOf(at(container.status, 'lastState', 'terminated'));
  const why = { reason: textAt(state, 'reason'), message: textAt(state, 'message') };
  return { pod, ailment: 'waiting', container, ...why, ...(ended === undefined ? {} : { ended }) };
}

// A container that has just been started again is not ready, and its last state says why.
function terminated(pod: JsonObject, containers: readonly Container[], phase: string | undefined): PodFailure | undefined {
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

function endOf(state: Json | undefined): PodFailure['ended'] {
  const exitCode = at(state, 'exitCode');
  return typeof exitCode === 'number' && exitCode !== 0 ? { exitCode, reason: textAt(state, 'reason') } : undefined;
}

function unscheduled(pod: JsonObject): PodFailure | undefined {
  const scheduled = conditionOf(pod, 'PodScheduled');
  if (textAt(scheduled, 'status') !== 'False') return undefined;
  return { pod, ailment: 'unscheduled', reason: textAt(scheduled, 'reason'), message: textAt(scheduled, 'message') };
}

function notReady(pod: JsonObject, containers: readonly Container[]): PodFailure | undefined {
  const ready = conditionOf(pod, 'Ready');
  if (textAt(ready, 'status') === 'True') return undefined;
  const container = containers.find(({ isReady }) => !isReady);
  const reason = textAt(container?.status, 'state', 'waiting', 'reason') ?? textAt(ready, 'reason');
  return { pod, ailment: 'notReady', reason, ...(container === undefined ? {} : { container }) };
}
