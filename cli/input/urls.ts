// Reads manifests from a URL, within bounds of size and time.
import { codeOf, Problem } from '../problem.ts';
import { type Bounds, boundedBytes, usualPatience } from './streams.ts';

export function isUrl(path: string): boolean {
  return /^https?:\/\//i.test(path);
}

/** For messages: without credentials and query, which may hold a token. */
export function shownUrl(url: string): string {
  return url.replace(/^(https?:\/\/)[^/?#]*@/i, '$1').replace(/[?#].*$/, '');
}

/** Throws a Problem. Redirects are followed, as kubectl follows them. */
export async function readUrl(url: string, { bytes, signal, patience = usualPatience }: Bounds): Promise<Uint8Array> {
  const ending = AbortSignal.any([AbortSignal.timeout(patience), signal]);
  try {
    const answer = await fetch(url, { signal: ending });
    if (!answer.ok) throw new Problem(`${shownUrl(url)} answers ${answer.status}: correct the URL after -f.`);
    return answer.body === null ? Buffer.of() : await boundedBytes(shownUrl(url), answer.body, bytes);
  } catch (error) {
    if (error instanceof Problem) throw error;
    if (signal.aborted) return Buffer.of();
    throw new Problem(`${shownUrl(url)} cannot be read (${whyNot(error, patience)}): correct the URL after -f, or download it.`);
  }
}

function whyNot(error: unknown, patience: number): string {
  if (!(error instanceof Error)) return 'no answer';
  return error.name === 'TimeoutError' ? `no whole answer in ${patience / 1000} s` : codeOf(error.cause, 'no answer');
}
