// Digests of values, equal for equal values.
import { createHash } from 'node:crypto';
import { canonicalJson, type Json } from '../../objects/json.ts';

/** `sha256:…` of a text. */
export function digestOfText(text: string): string {
  return `sha256:${createHash('sha256').update(text).digest('hex')}`;
}

export function digestOf(value: Json): string {
  return digestOfText(canonicalJson(value));
}

const hashLetters = 20;

/** A name that no other object has: a prefix, and a hash of the parts. */
export function hashedName(prefix: string, ...parts: readonly (string | number)[]): string {
  return `${prefix}-${createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, hashLetters)}`;
}
