// Reads manifests from a URL, within bounds of size and time.
import { codeOf, Problem } from '../problem.ts';

export function isUrl(path: string): boolean {
  return /^https?:\/\//i.test(path);
}

/** For messages: without credentials and query, which may hold a token. */
export function shownUrl(url: string): string {
  return url.replace(/^(https?:\/\/)[^/?#]*@/i, '$1').replace(/[?#].*$/, '');
}

interface Bounds {
  readonly bytes: number;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  /** In ms, for the whole answer. */
  readonly patience?: number;
}

/** Throws a Problem. Redirects are followed, as kubectl follows them. */
export async function readUrl(url: string, { bytes, signal, patience = 30_000 }: Bounds): Promise<Uint8Array> {
  const ending = AbortSignal.any([AbortSignal.timeout(patience), signal]);
  try {
    const answer = await fetch(url, { signal: ending });
    if (!answer.ok) throw new Problem(`${shownUrl(url)} answers ${answer.status}: correct the URL after -f.`);
    return await boundedBody(url, answer, bytes);
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

async function boundedBody(url: string, { body }: Response, most: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of body ?? []) {
    size += part.length;
    if (size > most) throw new Problem(`${shownUrl(url)} has more than ${most / 1024 / 1024} MiB: apply it in parts.`);
    parts.push(part);
  }
  return Buffer.concat(parts);
}
