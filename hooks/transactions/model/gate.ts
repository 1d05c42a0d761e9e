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
}

/** How far a gate is, as the status of its change keeps it. Times are in ms since the epoch, by the API server's clock. */
export interface GateState {
  /** Since when it is waited for. */
  readonly since: number;
  /** Since when it has been ready without a break. */
  readonly readySince?: number;
  readonly passed?: true;
  /** The last finding, in words; at most `longestFound` characters. */
  readonly found?: string;
}

export const longestFound = 200;

export const defaultGate = { timeout: 300_000, stableFor: 0 } as const;

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
export function encodeGateState({ since, readySince, passed, found }: GateState): { readonly [key: string]: Json } {
  return {
    since: formatTime(since),
    ...(readySince === undefined ? {} : { readySince: formatTime(readySince) }),
    ...(passed === undefined ? {} : { passed }),
    ...(found === undefined ? {} : { found }),
  };
}

/** Undefined if `encodeGateState` does not make such a state. */
export function decodeGateState(wire: Json | undefined): GateState | undefined {
  const since = parseTime(textAt(wire, 'since'));
  if (since === undefined) return undefined;
  const [readySince, found] = [parseTime(textAt(wire, 'readySince')), textAt(wire, 'found')];
  return {
    since,
    ...(readySince === undefined ? {} : { readySince }),
    ...(at(wire, 'passed') === true ? { passed: true as const } : {}),
    ...(found === undefined ? {} : { found }),
  };
}
