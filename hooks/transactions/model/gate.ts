// A gate: the part of an object that must be ready, the place in the order of changes at which the engine waits, and for how long.
import { at, isObject, type Json, textAt } from '../../objects/json.ts';
import { formatTime, parseDuration, parseTime } from '../../objects/time.ts';

export const gatePlaces = ['AfterChange', 'AtEnd', 'Never'] as const;

/** `AfterChange`: before the next change is made. `AtEnd`: once all changes are applied. `Never`: not even where `spec.gate` waits for all. */
type GatePlace = (typeof gatePlaces)[number];

/** One question about an object as it is stored. */
export type Check =
  | { readonly kind: 'condition'; readonly type: string; readonly status: string }
  /** A path such as `.status.loadBalancer.ingress[0].ip`. Without a value the field must not be empty. */
  | { readonly kind: 'field'; readonly path: string; readonly value?: Json }
  /** CEL over the variable `object`. */
  | { readonly kind: 'expression'; readonly expression: string };

export interface Gate {
  readonly at: GatePlace;
  /** Absent: the rule of the kind. */
  readonly ready?: Check;
  readonly failed?: Check;
  /** In ms, like `stableFor`. */
  readonly timeout: number;
  /** For so long it must be ready without a break. */
  readonly stableFor: number;
  /** Absent: the gate does not fail because of a Pod. */
  readonly failFast?: FailFast;
  /** The last lines that a failed container printed go into the status. */
  readonly keepLogs?: true;
}

/** Why a container waits and does not start: for its image, or for anything else. */
export type StartFailure = 'Image' | 'Container';

/** For how long a container of a Pod of the new revision may wait because of such a failure before the gate fails, in ms. */
type FailFast = Readonly<Record<StartFailure, number>>;

/** How far a gate is, as the status of its change keeps it. Times are in ms since the epoch, by the API server's clock. */
export interface GateState {
  /** Since when it is waited for. */
  readonly since: number;
  /** Since when it has been ready without a break. */
  readonly readySince?: number;
  readonly passed?: true;
  /** The last finding, in words; at most `longestFound` characters. */
  readonly found?: string;
  readonly pod?: PodState;
  /** Of the container that the diagnosis names: lines, each cleaned; at most `longestLogs` characters. */
  readonly logs?: string;
}

/** What the last list of Pods has shown of a Pod of the new revision. */
export interface PodState {
  /** In words, as they were when the Pod was first seen; or why the engine cannot list Pods. At most `longestFound` characters. */
  readonly found: string;
  /** Of the Pod; absent if the engine cannot list Pods. */
  readonly uid?: string;
  /** Absent if its containers start. */
  readonly failing?: Failing;
}

interface Failing {
  readonly failure: StartFailure;
  /** Since when each list of Pods has shown it. */
  readonly since: number;
}

export const longestFound = 200;
export const longestLogs = 4096;

export const defaultGate = { timeout: 300_000, stableFor: 0 } as const;
export const defaultFailFast = { imageAfter: 20_000, containerAfter: 60_000 } as const;

/** Reads a gate of a change, or of the spec. The schema of the CRD is presumed, nothing beyond it: checks/gates.ts refuses what it does not say. */
export function decodeGate(wire: Json | undefined, place: GatePlace): Gate | undefined {
  if (!isObject(wire)) return undefined;
  const [ready, failed] = [decodeCheck(at(wire, 'ready')), decodeCheck(at(wire, 'failed'))];
  return {
    at: (textAt(wire, 'at') ?? place) as GatePlace,
    ...(ready === undefined ? {} : { ready }),
    ...(failed === undefined ? {} : { failed }),
    timeout: parseDuration(textAt(wire, 'timeout') ?? '') ?? defaultGate.timeout,
    stableFor: parseDuration(textAt(wire, 'stableFor') ?? '') ?? defaultGate.stableFor,
    ...decodePodRules(at(wire, 'failFast'), at(wire, 'keepLogs')),
  };
}

function decodePodRules(failFast: Json | undefined, keepLogs: Json | undefined): Pick<Gate, 'failFast' | 'keepLogs'> {
  const after = (name: keyof typeof defaultFailFast): number =>
    parseDuration(textAt(failFast, name) ?? '') ?? defaultFailFast[name];
  const isOff = at(failFast, 'enabled') === false;
  return {
    ...(isOff ? {} : { failFast: { Image: after('imageAfter'), Container: after('containerAfter') } }),
    ...(keepLogs === true ? { keepLogs: true } : {}),
  };
}

function decodeCheck(wire: Json | undefined): Check | undefined {
  const [condition, field, expression] = [at(wire, 'condition'), at(wire, 'field'), textAt(wire, 'expression')];
  if (isObject(condition))
    return { kind: 'condition', type: textAt(condition, 'type') ?? '', status: textAt(condition, 'status') ?? 'True' };
  if (isObject(field)) {
    const value = at(field, 'value');
    return { kind: 'field', path: textAt(field, 'path') ?? '', ...(value === undefined ? {} : { value }) };
  }
  return expression === undefined ? undefined : { kind: 'expression', expression };
}

/** As it is stored. */
export function encodeGateState({ since, readySince, passed, found, pod, logs }: GateState): { readonly [key: string]: Json } {
  return {
    since: formatTime(since),
    ...(readySince === undefined ? {} : { readySince: formatTime(readySince) }),
    ...(passed === undefined ? {} : { passed }),
    ...(found === undefined ? {} : { found }),
    ...(pod === undefined ? {} : { pod: encodePod(pod) }),
    ...(logs === undefined ? {} : { logs }),
  };
}

function encodePod({ found, uid, failing }: PodState): { readonly [key: string]: Json } {
  return {
    found,
    ...(uid === undefined ? {} : { uid }),
    ...(failing === undefined ? {} : { failure: failing.failure, since: formatTime(failing.since) }),
  };
}

/** Undefined if `encodeGateState` does not make such a state. */
export function decodeGateState(wire: Json | undefined): GateState | undefined {
  const since = parseTime(textAt(wire, 'since'));
  if (since === undefined) return undefined;
  const [readySince, found, logs] = [parseTime(textAt(wire, 'readySince')), textAt(wire, 'found'), textAt(wire, 'logs')];
  return {
    since,
    ...(readySince === undefined ? {} : { readySince }),
    ...(at(wire, 'passed') === true ? { passed: true as const } : {}),
    ...(found === undefined ? {} : { found }),
    ...decodePod(at(wire, 'pod')),
    ...(logs === undefined ? {} : { logs }),
  };
}

function decodePod(wire: Json | undefined): Pick<GateState, 'pod'> {
  const [found, uid] = [textAt(wire, 'found'), textAt(wire, 'uid')];
  if (found === undefined) return {};
  return { pod: { found, ...(uid === undefined ? {} : { uid }), ...decodeFailing(wire) } };
}

function decodeFailing(wire: Json | undefined): Pick<PodState, 'failing'> {
  const [failure, since] = [textAt(wire, 'failure'), parseTime(textAt(wire, 'since'))];
  if (since === undefined || (failure !== 'Image' && failure !== 'Container')) return {};
  return { failing: { failure, since } };
}
