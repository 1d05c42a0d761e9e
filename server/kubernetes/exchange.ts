// One HTTP exchange on undici's own events. Its streams and promises would take a quarter more time per request.
import type { IncomingHttpHeaders } from 'node:http';
import { StringDecoder } from 'node:string_decoder';
import type { Dispatcher } from 'undici';

export interface HttpReply {
  readonly code: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** Of the body, as received. */
  readonly bytes: number;
}

/** Limits of an answer: its time in ms, its size in bytes. */
export interface Limits {
  readonly patience: number;
  readonly mostBytes?: number | undefined;
  /** Returns false if other answers leave no room for so many more bytes. */
  readonly take: (bytes: number) => boolean;
}

// Like undici's own error, which limits every answer.
export class TooLarge extends Error {
  readonly code = 'UND_ERR_RES_EXCEEDED_MAX_SIZE';
}

class NoRoom extends Error {
  readonly code = 'NO_ROOM_FOR_ANSWER';
}

/** The answer to one request. Rejects with a `TimeoutError` after `patience` ms, or with the error of the connection. */
export function exchange(pool: Dispatcher, limits: Limits, request: Dispatcher.DispatchOptions): Promise<HttpReply> {
  const { patience, mostBytes = Number.POSITIVE_INFINITY, take } = limits;
  return new Promise((resolve, reject) => {
    // Each part is decoded as it arrives: a text that is decoded at the end needs all bytes twice beside it.
    const decoder = new StringDecoder('utf8');
    const parts: string[] = [];
    let size = 0;
    let [code, headers]: [number, IncomingHttpHeaders] = [0, {}];
    let controller: Dispatcher.DispatchController | undefined;
    let tooLate: Error | undefined;
    const timer = setTimeout(() => {
      tooLate = new DOMException('no answer in time', 'TimeoutError');
      controller?.abort(tooLate);
      reject(tooLate);
    }, patience);
    pool.dispatch(request, {
      onRequestStart(started) {
        controller = started;
        if (tooLate !== undefined) started.abort(tooLate);
      },
      onResponseStart(_controller, statusCode, fields) {
        [code, headers] = [statusCode, fields];
      },
      onResponseData(running, chunk) {
        size += chunk.length;
        if (size > mostBytes) running.abort(new TooLarge('the answer is larger than wanted'));
        else if (!take(chunk.length)) running.abort(new NoRoom('other answers take the room'));
        else parts.push(decoder.write(chunk));
      },
      onResponseEnd() {
        clearTimeout(timer);
        resolve({ code, headers, text: parts.join('') + decoder.end(), bytes: size });
      },
      onResponseError(_controller, error) {
        clearTimeout(timer);
        reject(error);
      },
    });
  });
}
