// How large the states of all targets may be together. They are in memory at once: before they are stored, and when they are read back.

import type { JsonObject } from '../../objects/json.ts';
import { limits } from '../../objects/limits.ts';
import { type Weight, weightOf } from '../../objects/measure.ts';
import { describe, type Reference } from '../../objects/reference.ts';

/** Bytes of all entries of a snapshot before packing, as JSON. */
export const mostBytes: number = limits.states.value;

/** Bytes of all entries in memory (objects/measure.ts). */
export const mostMemory: number = limits.statesInMemory.value;

/** How many of the largest states are named. */
const named = 3;

/** The states before and after the change of one target. */
export interface StateSize extends Weight {
  readonly target: Reference;
}

export function stateSize(target: Reference, states: readonly (JsonObject | undefined)[]): StateSize {
  const weights = states.map(weightOf);
  const sum = (part: keyof Weight): number => weights.reduce((total, weight) => total + weight[part], 0);
  return { target, memory: sum('memory'), text: sum('text') };
}

/** Why states of these sizes cannot be stored, if they cannot. `count`: of all targets; the others are not read any more. */
export function whyTooLarge(sizes: readonly StateSize[], count: number): string | undefined {
  const text = sizes.reduce((total, size) => total + size.text, 0);
  const memory = sizes.reduce((total, size) => total + size.memory, 0);
  if (text <= mostBytes && memory <= mostMemory) return undefined;
  const largest = sizes.toSorted((one, other) => other.memory - one.memory).slice(0, named);
  const words = largest.map((size) => `${describe(size.target)} ${size.text} bytes`).join(', ');
  return (
    `the states before and after of ${sizes.length} of ${count} targets take ${text} bytes as JSON and ${memory} bytes in memory, ` +
    `at most ${mostBytes} and ${mostMemory} bytes are allowed (the largest: ${words})`
  );
}
