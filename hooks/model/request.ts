// Values of the annotations that ask for something. People and tools choose them: only whether one is another than before counts.
import { createHash } from 'node:crypto';

const short = /^[\x20-\x7e]{0,128}$/;

/** A value as it is noted in the status and quoted in messages: itself where it is short and plain, else its digest. */
export function notedValue(value: string): string {
  return short.test(value) ? value : `sha256:${createHash('sha256').update(value).digest('hex')}`;
}
