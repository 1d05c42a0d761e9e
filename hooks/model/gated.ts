// Which changes of a Transaction are waited for, and whether that is due.
import { decodeGate, type Gate } from './gate.ts';
import type { Item } from './item.ts';
import type { Json } from './json.ts';
import type { Change } from './transaction.ts';

/** What of a Transaction its gates follow from. */
export interface Gating {
  readonly changes: readonly Pick<Change, 'type' | 'gate'>[];
  readonly gate?: Json;
}

/** The gate of a change: its own or, Deletes aside, that of the spec. Undefined where nothing is waited for. */
export function gateOf({ changes, gate }: Gating, index: number): Gate | undefined {
  const change = changes[index];
  const own = decodeGate(change?.gate, 'AfterChange') ?? (change?.type === 'Delete' ? undefined : decodeGate(gate, 'AtEnd'));
  return own?.at === 'Never' ? undefined : own;
}

/** Gates that are waited for at once. */
export interface OpenGates {
  readonly at: 'AfterChange' | 'AtEnd';
  /** Of the changes; never empty. */
  readonly indexes: readonly number[];
}

/**
 * The gates that are waited for now: that of a change before the next one is made or, once all changes are applied and any gate is
 * AtEnd, all of them, those that have passed before included.
 */
export function openGates(transaction: Gating, items: readonly Item[]): OpenGates | undefined {
  if (!hasGates(transaction)) return undefined;
  const gates = items.map((_, index) => gateOf(transaction, index));
  const after = items.findIndex(
    ({ progress, gate }, index) => progress.kind === 'applied' && gates[index]?.at === 'AfterChange' && gate?.passed !== true,
  );
  if (after >= 0) return { at: 'AfterChange', indexes: [after] };
  const isApplied = items.every(({ progress }) => progress.kind === 'applied');
  if (!isApplied || !gates.some((gate) => gate?.at === 'AtEnd')) return undefined;
  return { at: 'AtEnd', indexes: gates.flatMap((gate, index) => (gate === undefined ? [] : [index])) };
}

export function hasGates({ gate, changes }: Gating): boolean {
  return gate !== undefined || changes.some((change) => change.gate !== undefined);
}
