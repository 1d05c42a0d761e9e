// Common schemas of fields of a spec.
import type { Schema } from './schema.ts';
import { type Duration, durations, patterns } from './spec-values.ts';

interface Text {
  readonly description: string;
  readonly pattern: string;
  readonly maxLength: number;
}

export function text({ description, pattern, maxLength }: Text): Schema {
  return { type: 'string', description, minLength: 1, maxLength, pattern };
}

export function duration(name: keyof typeof durations, description: string): Schema {
  return durationOf(durations[name], description);
}

export function durationOf({ default: usual, least, most }: Duration, description: string): Schema {
  const bounded = `${description} A duration from ${least} to ${most}.`;
  return { type: 'string', description: bounded, default: usual, minLength: 1, maxLength: 32, pattern: patterns.duration };
}
