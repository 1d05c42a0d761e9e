// Wrong answers of an API server, and of proxies before it, as the adapter returns them to the engine.

import type { Failure } from '../../hooks/objects/failure.ts';
import { failureOfAnswer, failureOfError } from '../../server/kubernetes/failures.ts';

export interface WrongAnswer {
  readonly id: string;
  readonly failure: Failure;
  /** Whether a retry is the only correct reaction: the end equals that without the answer. */
  readonly isTransient: boolean;
}

function answered(
  code: number,
  reason: string,
  isTransient: boolean,
  headers: Readonly<Record<string, string>> = {},
): WrongAnswer {
  const body = { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message: `made for a test: ${reason}` };
  return { id: `${code}`, failure: failureOfAnswer({ code, headers, body }), isTransient };
}

function unanswered(id: string, code: string): WrongAnswer {
  return { id, failure: failureOfError(Object.assign(new Error(id), { code })), isTransient: true };
}

export const wrongAnswers: readonly WrongAnswer[] = [
  answered(401, 'Unauthorized', true),
  answered(403, 'Forbidden', false),
  answered(404, 'NotFound', false),
  answered(408, 'Timeout', true),
  { ...answered(409, 'Conflict', false), id: '409' },
  { ...answered(409, 'AlreadyExists', false), id: '409-exists' },
  answered(413, 'RequestEntityTooLarge', false),
  answered(422, 'Invalid', false),
  answered(429, 'TooManyRequests', true, { 'retry-after': '1' }),
  answered(500, 'InternalError', true),
  answered(502, 'BadGateway', true),
  answered(503, 'ServiceUnavailable', true),
  answered(504, 'Timeout', true),
  unanswered('reset', 'ECONNRESET'),
  unanswered('hang', 'UND_ERR_HEADERS_TIMEOUT'),
  { id: 'garbage', failure: failureOfAnswer({ code: 200, headers: {}, body: undefined }), isTransient: true },
];
