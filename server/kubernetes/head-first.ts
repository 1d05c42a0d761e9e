// A request body that the process can still cut off after the API server has received the head of the request.
import type { Readable } from 'node:stream';
import { setImmediate as nextLoopTurn } from 'node:timers/promises';

export type IsLate = () => boolean;

/**
 * Sends one byte with the head, and the rest only if the request is not late. If a process freezes before that moment, it notices the
 * delay here. If it freezes after it has sent the head, the API server counts the lifetime of the request from the head.
 */
export function headFirst(body: Buffer, isLate: IsLate): Readable {
  // undici accepts any async iterable, which takes a third less time than a stream; its types allow only streams.
  return inTwo(body, isLate) as unknown as Readable;
}

async function* inTwo(body: Buffer, isLate: IsLate): AsyncGenerator<Buffer> {
  yield body.subarray(0, 1);
  await nextLoopTurn();
  if (isLate()) throw new DOMException('it is too late to complete this request', 'TimeoutError');
  yield body.subarray(1);
}
