// The rules for variables of the environment, and their parsers.
import { parseDuration } from '../hooks/objects/time.ts';

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

export type LogLevel = (typeof logLevels)[number];

/** A rule for a variable, and its parser; `parse` returns undefined if the text is not valid. */
export interface Rule<Value> {
  readonly fallback: Value;
  readonly expected: string;
  readonly parse: (text: string) => Value | undefined;
  /** The text may hold a password: no message quotes it. */
  readonly isSecret?: true;
}

export const namespace = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

export function integer(fallback: number, least: number, most: number): Rule<number> {
  return {
    fallback,
    expected: `an integer from ${least} to ${most}`,
    parse: (text) => (/^\d{1,15}$/.test(text) && Number(text) >= least && Number(text) <= most ? Number(text) : undefined),
  };
}

/** A Go duration from 0 to `most`, in ms. */
export function duration(fallback: string, most: string): Rule<number> {
  const longest = parseDuration(most) ?? 0;
  return {
    fallback: parseDuration(fallback) ?? 0,
    expected: `a duration from 0s to ${most}`,
    parse: (text) => {
      const parsed = text === '0' ? 0 : parseDuration(text);
      return parsed !== undefined && parsed <= longest ? parsed : undefined;
    },
  };
}

export function choice<Value>(fallback: Value, values: Readonly<Record<string, Value>>): Rule<Value> {
  return { fallback, expected: `one of ${Object.keys(values).join(', ')}`, parse: (text) => values[text] };
}

export function matching(fallback: string, expected: string, pattern: RegExp): Rule<string> {
  return { fallback, expected, parse: (text) => (pattern.test(text) ? text : undefined) };
}

/** `what`: the words after "a comma-separated list of". */
export function listOf(what: string, pattern: RegExp): Rule<readonly string[]> {
  return {
    fallback: [],
    expected: `a comma-separated list of ${what}`,
    parse: (text) => {
      const items = text.split(',').map((item) => item.trim());
      return items.every((item) => pattern.test(item)) ? [...new Set(items)] : undefined;
    },
  };
}

export function level(fallback: LogLevel): Rule<LogLevel> {
  return {
    fallback,
    expected: `one of ${logLevels.join(', ')}`,
    parse: (text) => logLevels.find((candidate) => candidate === text),
  };
}
