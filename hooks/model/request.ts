// What an annotation asks for. People and tools choose its value: only whether it is another than before counts.
import { createHash } from 'node:crypto';

export interface Request {
  /** The annotation that asks for it. */
  readonly annotation: string;
  /** As it is noted: a digest where it is long or odd. */
  readonly value: string;
}

const short = /^[\x20-\x7e]{0,128}$/;

/** A value as it is noted in the status and quoted in messages: itself where it is short and plain, else its digest. */
export function notedValue(value: string): string {
  return short.test(value) ? value : `sha256:${createHash('sha256').update(value).digest('hex')}`;
}

/** The request of an annotation with that value, unless it is `noted` already (by an older version: as it was). */
export function newRequest(annotation: string, found: string | undefined, noted: string | undefined): Request | undefined {
  if (found === undefined || found === noted || notedValue(found) === noted) return undefined;
  return { annotation, value: notedValue(found) };
}
