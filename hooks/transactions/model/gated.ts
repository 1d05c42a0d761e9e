// Which changes of a Transaction are waited for, what must not be announced before, and whether a wait is due.

import type { Json } from '../../objects/json.ts';
import { type Change, isDeletion } from './change.ts';
import { mayBeCrdOf } from './crds.ts';
import { decodeGate, type Gate } from './gate.ts';
import type { Item } from './item.ts';

/** What of a Transaction its gates follow from. */
export interface Gating {
  readonly changes: readonly Change[];
  readonly gate?: Json;
}

/** The gate of a change: its own or, Deletes aside, that of the spec. Undefined if the spec waits for nothing. */
export function gateOf({ changes, gate }: Gating, index: number): Gate | undefined {
  const change = changes[index];
  const own =
    decodeGate(change?.gate, 'AfterChange') ??
    (change === undefined || isDeletion(change) ? undefined : decodeGate(gate, 'AtEnd'));
  return own?.at === 'Never' ? undefined : own;
}

interface OpenGate {
  readonly index: number;
  readonly gate: Gate;
}

/** Gates that are waited for at once; never none. */
export interface OpenGates {
  readonly at: 'AfterChange' | 'AtEnd';
  readonly gates: readonly OpenGate[];
}

/** A gate in the way of other changes. */
interface Barrier extends OpenGate {
  /** The first change that must not be made before it has passed. */
  readonly before: number;
  /** Nothing from there on is announced until a stored status says that it has passed. */
  readonly isAsked: boolean;
}

/**
 * Of a CRD whose kind a later change needs: until then it must be served, whether the spec says so or not. The API server would refuse the
 * change before that, so that it may be announced.
 */
const implied: Gate = { at: 'AfterChange', timeout: 30_000, stableFor: 0 };

const known = new WeakMap<Gating['changes'], readonly Barrier[]>();

function barriersOf(gating: Gating): readonly Barrier[] {
  const { changes } = gating;
  const found = known.get(changes) ?? changes.flatMap((_, index) => barrierOf(gating, index));
  known.set(changes, found);
  return found;
}

function barrierOf(gating: Gating, index: number): readonly Barrier[] {
  const { changes } = gating;
  const [change, gate] = [changes[index], gateOf(gating, index)];
  if (gate?.at === 'AfterChange') return [{ index, gate, before: index + 1, isAsked: true }];
  const served = impliedBarrier(changes, index);
  const next = gate === undefined ? -1 : firstOfNext(changes, change);
  if (served !== undefined && (next < 0 || served.before < next)) return [served];
  return gate === undefined || next < 0 ? [] : [{ index, gate, before: next, isAsked: true }];
}

/** Index of the first change in a later wave; -1 if there is no later wave. */
function firstOfNext(changes: Gating['changes'], change: Change | undefined): number {
  return change?.wave === undefined ? -1 : changes.findIndex(({ wave }) => Number(wave) > Number(change.wave));
}

/** Of a CRD whose kind a later change needs. */
function impliedBarrier(changes: Gating['changes'], index: number): Barrier | undefined {
  const change = changes[index];
  if (change === undefined || isDeletion(change) || change.target.kind !== 'CustomResourceDefinition') return undefined;
  const before = changes.findIndex(({ target }, at) => at > index && mayBeCrdOf(change, target));
  return before < 0 ? undefined : { index, gate: implied, before, isAsked: false };
}

/** The first change that must not be announced yet; the number of changes if there is no such change. */
export function firstBarred(gating: Gating, items: readonly Item[]): number {
  const shut = barriersOf(gating).filter(({ index, isAsked }) => isAsked && items[index]?.gate?.passed !== true);
  return Math.min(gating.changes.length, ...shut.map(({ before }) => before));
}

/**
 * The gates that the engine waits for now: the gates in the way of the next change. After all changes are applied, if any gate is
 * AtEnd, the engine waits for all gates, including the gates that have passed before.
 */
export function openGates(gating: Gating, items: readonly Item[]): OpenGates | undefined {
  const first = items.findIndex(({ progress }) => progress.kind !== 'applied');
  const next = first < 0 ? items.length : first;
  const shut = barriersOf(gating).filter(({ index }) => index < next && items[index]?.gate?.passed !== true);
  if (shut.some(({ before }) => before <= next)) return { at: 'AfterChange', gates: shut };
  return next < items.length ? undefined : gatesAtEnd(gating);
}

function gatesAtEnd(gating: Gating): OpenGates | undefined {
  const all = gating.changes.flatMap((_, index) => {
    const gate = gateOf(gating, index);
    return gate === undefined ? [] : [{ index, gate }];
  });
  return all.some(({ gate }) => gate.at === 'AtEnd') ? { at: 'AtEnd', gates: all } : undefined;
}
