// What an annotation asks for. People and tools choose its value: only whether it is another than before counts, or was gone meanwhile.
import { createHash } from 'node:crypto';
import { type JsonObject, textAt } from '../../objects/json.ts';

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

/** Noted in place of a value once its annotation is gone: set again, the same value is a new request. No value is noted as this. */
export const removed = '‹removed›';

/** The request of an annotation with that value, unless it is `noted` already. */
export function newRequest(annotation: string, found: string | undefined, noted: string | undefined): Request | undefined {
  const isHandled = noted !== removed && found !== undefined && notedValue(found) === noted;
  return found === undefined || isHandled ? undefined : { annotation, value: notedValue(found) };
}

/** What is noted of requests, now that the object has these annotations. No request is forgotten: an undo depends on whether there was one. */
export function notedNow(noted: Readonly<Record<string, string>>, annotations: JsonObject): Readonly<Record<string, string>> {
  const isGone = (name: string): boolean => textAt(annotations, name) === undefined;
  return Object.fromEntries(Object.entries(noted).map(([name, value]) => [name, isGone(name) ? removed : value]));
}
