// A stand-in for kubelets: the control plane of the tests has no nodes, so no kubelet writes the status of a Pod. This does, as a kubelet
// would, and the real controllers go by it: a Deployment becomes available, a Job completes or fails.
//
// Pods stay without a node: the garbage collector of Pods deletes those that are bound to a node that does not exist.
import { at, isList, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { type Client, must, type Teardown } from './client.ts';

/** What a kubelet writes about a Pod: the status, with `now` as the time of what has changed. */
type Play = (pod: JsonObject, now: string) => JsonObject;

export interface Kubelet {
  /** From now on the Pods that the label selector takes are as `play` says, those that come later too. The last word on a Pod counts. */
  play(labelSelector: string, play: Play): void;
  /** Writes nothing any more; called when the test ends. Rejects when the API server refused what a kubelet may write. */
  stop(): Promise<void>;
}

interface Rule {
  readonly labelSelector: string;
  readonly play: Play;
}

/** ms between two looks; where a kubelet has a watch. */
const interval = 100;

/** For the Pods of one namespace. */
export function startKubelet(t: Teardown, client: Client, namespace: string): Kubelet {
  const path = `/api/v1/namespaces/${namespace}/pods`;
  const rules: Rule[] = [];
  /** The rule that each Pod, by its uid, has been written by. */
  const written = new Map<string, Rule>();
  const end = new AbortController();
  const write = async (pod: JsonObject, { play }: Rule): Promise<void> => {
    const { uid, name } = namesOf(pod);
    const answer = await client.patch(`${path}/${name}/status`, { metadata: { uid }, status: play(pod, timestamp()) });
    // 404 and 409: it has gone, or another one has its name.
    if (answer.code !== 404 && answer.code !== 409) must(answer);
  };
  // The lists of later rules are read later: a Pod that comes meanwhile is in the list of the last rule that takes it.
  const readPods = async (): Promise<ReadonlyMap<JsonObject, Rule>> => {
    const found = new Map<string, readonly [JsonObject, Rule]>();
    for (const rule of [...rules]) {
      const { items } = await client.list(path, { labelSelector: rule.labelSelector });
      for (const pod of items.filter((one) => !isLeaving(one))) found.set(namesOf(pod).uid, [pod, rule]);
    }
    return new Map(found.values());
  };
  const tend = async (): Promise<void> => {
    for (const [pod, rule] of await readPods()) {
      const { uid } = namesOf(pod);
      if (written.get(uid) !== rule) await write(pod, rule);
      written.set(uid, rule);
    }
  };
  const running = (async () => {
    while (!end.signal.aborted) {
      await tend();
      await pause(interval, end.signal);
    }
  })();
  running.catch(() => undefined);
  const stop = async (): Promise<void> => {
    end.abort();
    await running;
  };
  t.teardown(stop);
  return { play: (labelSelector, play) => void rules.push({ labelSelector, play }), stop };
}

function namesOf(pod: JsonObject): { readonly uid: string; readonly name: string } {
  return { uid: textAt(pod, 'metadata', 'uid') ?? '', name: textAt(pod, 'metadata', 'name') ?? '' };
}

function timestamp(): string {
  return new Date().toISOString().replace(/\.\d+/, '');
}

function isLeaving(pod: JsonObject): boolean {
  return textAt(pod, 'metadata', 'deletionTimestamp') !== undefined;
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/** Runs, and is ready. */
export const running: Play = (pod, now) =>
  statusOf(pod, 'Running', { now, isReady: true, state: { running: { startedAt: now } } });

/** Runs, but its readiness probe fails. */
export const unready: Play = (pod, now) =>
  statusOf(pod, 'Running', { now, isReady: false, state: { running: { startedAt: now } } });

/** Its containers cannot start: `ImagePullBackOff`, `CreateContainerConfigError`. */
export function waiting(reason: string, message = ''): Play {
  return (pod, now) => statusOf(pod, 'Pending', { now, isReady: false, state: { waiting: { reason, message } } });
}

/** Its containers ended, for good. */
export function terminated(exitCode: number, message = ''): Play {
  const [phase, reason] = exitCode === 0 ? ['Succeeded', 'Completed'] : ['Failed', 'Error'];
  return (pod, now) =>
    statusOf(pod, phase, {
      now,
      isReady: false,
      state: { terminated: { exitCode, reason, message, startedAt: now, finishedAt: now } },
    });
}

/** Its containers end again and again. */
export function crashLooping(exitCode: number, message = '', restartCount = 0): Play {
  const waits = { reason: 'CrashLoopBackOff', message: 'back-off 10s restarting failed container' };
  return (pod, now) => {
    const lastState = { terminated: { exitCode, reason: 'Error', message, startedAt: now, finishedAt: now } };
    return statusOf(pod, 'Running', { now, isReady: false, state: { waiting: waits }, lastState, restartCount });
  };
}

interface Parts {
  readonly now: string;
  readonly isReady: boolean;
  readonly state: JsonObject;
  readonly lastState?: JsonObject;
  readonly restartCount?: number;
}

// Source of the form: k8s.io/kubernetes pkg/kubelet/kubelet_pods.go and pkg/kubelet/status/generate.go.
function statusOf(pod: JsonObject, phase: string, parts: Parts): JsonObject {
  const { now, isReady, state, lastState = {}, restartCount = 0 } = parts;
  const ready = isReady ? { status: 'True' } : { status: 'False', reason: readyReason(phase) };
  const condition = (type: string, rest: JsonObject): JsonObject => ({ type, lastTransitionTime: now, ...rest });
  return {
    phase,
    startTime: textAt(pod, 'status', 'startTime') ?? now,
    conditions: [
      condition('PodScheduled', { status: 'True' }),
      condition('Initialized', { status: 'True' }),
      condition('ContainersReady', ready),
      condition('Ready', ready),
    ],
    containerStatuses: containersOf(pod).map((container) => ({
      name: textAt(container, 'name') ?? '',
      image: textAt(container, 'image') ?? '',
      imageID: '',
      ready: isReady,
      restartCount,
      state,
      lastState,
    })),
  };
}

function readyReason(phase: string): string {
  if (phase === 'Succeeded') return 'PodCompleted';
  return phase === 'Failed' ? 'PodFailed' : 'ContainersNotReady';
}

function containersOf(pod: JsonObject): readonly JsonObject[] {
  const containers = at(pod, 'spec', 'containers');
  return (isList(containers) ? containers : []) as readonly JsonObject[];
}

/** A Warning Event about an object, as the one who runs it records it. */
export async function warn(client: Client, object: JsonObject, reason: string, message: string): Promise<void> {
  const { name, uid } = namesOf(object);
  const namespace = textAt(object, 'metadata', 'namespace') ?? '';
  const now = timestamp();
  const event = {
    metadata: { generateName: `${name}.`, namespace },
    involvedObject: { kind: textAt(object, 'kind') ?? 'Pod', name, namespace, uid },
    ...{ type: 'Warning', reason, message, firstTimestamp: now, lastTimestamp: now, count: 1 },
    source: { component: 'kubelet' },
  };
  must(await client.create(`/api/v1/namespaces/${namespace}/events`, event));
}
