// Each answer, and each way of getting none, with the failure that it means.
import t from 'tap';
import type { Failure } from '../../../hooks/objects/failure.ts';
import type { Json } from '../../../hooks/objects/json.ts';
import { failureOfAnswer, failureOfError, type HttpAnswer } from '../../../server/kubernetes/failures.ts';

const status = (reason: string, more: Readonly<Record<string, Json>> = {}): Json => ({
  kind: 'Status',
  apiVersion: 'v1',
  status: 'Failure',
  message: 'words for people',
  reason,
  ...more,
});

const answer = (code: number, body: Json | undefined, headers: HttpAnswer['headers'] = {}): HttpAnswer => ({
  code,
  body,
  headers,
});

interface Row {
  readonly because: string;
  readonly answer: HttpAnswer;
  readonly failure: Partial<Failure>;
}

const codes = [
  [400, 'BadRequest'],
  [403, 'Forbidden'],
  [405, 'MethodNotAllowed'],
  [406, 'NotAcceptable'],
  [410, 'Gone'],
  [413, 'RequestEntityTooLarge'],
  [415, 'UnsupportedMediaType'],
  [422, 'Invalid'],
] as const;

const refusals: readonly Row[] = codes.map(([code, reason]) => ({
  because: `${code} will be answered again; an unknown reason becomes that of the code`,
  answer: answer(code, status('no image from elsewhere, please', { message: 'denied' })),
  failure: { kind: 'refused', code, reason, message: 'denied (no image from elsewhere, please)', definitive: true },
}));

const troubles: readonly Row[] = [500, 502, 503, 504, 507].map((code) => ({
  because: `after ${code} the write may be there, or come yet`,
  answer: answer(code, status('Whatever')),
  failure: { kind: 'transient', code, definitive: false },
}));

const rows: readonly Row[] = [
  ...refusals,
  ...troubles,
  {
    because: 'the API server names the object that it is about; who denies it explains himself in causes',
    answer: answer(403, status('Forbidden', { details: { name: 'web', kind: 'pods' } })),
    failure: { kind: 'refused', code: 403, subject: 'web' },
  },
  {
    because: 'an admission policy denies in a cause without a field, whatever its code',
    answer: answer(
      401,
      status('Unauthorized', { details: { name: 'web', causes: [{ message: "ValidatingAdmissionPolicy 'p' denied" }] } }),
    ),
    failure: { kind: 'refused', code: 401, origin: 'policy' },
  },
  {
    because: 'the API server could not call a webhook',
    answer: answer(500, status('InternalError', { details: { causes: [{ message: 'failed calling webhook' }] } })),
    failure: { kind: 'transient', code: 500, reason: 'InternalError', origin: 'call' },
  },
  {
    because: '404 of an object',
    answer: answer(404, status('NotFound')),
    failure: { kind: 'absent', code: 404, reason: 'NotFound', definitive: true },
  },
  {
    because: '404 in plain text is the API server not serving a group: its Audit-Id proves it',
    answer: answer(404, undefined, { 'audit-id': 'x' }),
    failure: { kind: 'absent', code: 404, reason: 'NotFound', definitive: true },
  },
  {
    because: '404 of a proxy says nothing about the object',
    answer: answer(404, undefined),
    failure: { kind: 'transient', code: 404, reason: 'AnswerUnreadable', definitive: false },
  },
  {
    because: '404 with JSON of someone else says nothing about the object',
    answer: answer(404, { error: 'no route' }),
    failure: { kind: 'transient', reason: 'AnswerUnreadable', definitive: false },
  },
  {
    because: '409 of a create whose name is taken',
    answer: answer(409, status('AlreadyExists')),
    failure: { kind: 'exists', code: 409, definitive: true },
  },
  {
    because: '409 of a precondition',
    answer: answer(409, status('Conflict')),
    failure: { kind: 'stale', code: 409, definitive: true },
  },
  {
    because: '409 without a reason',
    answer: answer(409, status('')),
    failure: { kind: 'stale', reason: 'Conflict', definitive: true },
  },
  {
    because: 'words that sound like another failure decide nothing',
    answer: answer(409, status('Conflict', { message: 'object already exists, AlreadyExists, not found' })),
    failure: { kind: 'stale' },
  },
  {
    because: '401 is about our credentials, which are read again; nothing was done',
    answer: answer(401, status('Unauthorized')),
    failure: { kind: 'transient', code: 401, definitive: true },
  },
  {
    because: '408 proves nothing',
    answer: answer(408, status('Timeout')),
    failure: { kind: 'transient', code: 408, definitive: false },
  },
  {
    because: '429 was not let in, and says when to come again',
    answer: answer(429, status('TooManyRequests'), { 'retry-after': '7' }),
    failure: { kind: 'transient', code: 429, definitive: true, retryAfterSeconds: 7 },
  },
  {
    because: 'the wish may stand in the Status only',
    answer: answer(504, status('Timeout', { details: { retryAfterSeconds: 3 } })),
    failure: { kind: 'transient', retryAfterSeconds: 3 },
  },
  {
    because: 'a page of a load balancer with a wish',
    answer: answer(503, undefined, { 'retry-after': '2' }),
    failure: { kind: 'transient', code: 503, definitive: false, retryAfterSeconds: 2 },
  },
  {
    because: '429 in plain text of the API server was not let in',
    answer: answer(429, undefined, { 'retry-after': '1', 'audit-id': 'x' }),
    failure: { kind: 'transient', code: 429, reason: 'TooManyRequests', definitive: true, retryAfterSeconds: 1 },
  },
  {
    because: '429 of a proxy says only that it was too much',
    answer: answer(429, undefined),
    failure: { kind: 'transient', code: 429, reason: 'TooManyRequests', definitive: false },
  },
  {
    because: '401 of a proxy is about credentials',
    answer: answer(401, undefined),
    failure: { kind: 'transient', code: 401, reason: 'Unauthorized', definitive: false },
  },
  ...([502, 503, 504] as const).map((code) => ({
    because: `${code} in HTML is a proxy that does not reach the API server`,
    answer: answer(code, undefined),
    failure: { kind: 'transient', code, reason: code === 504 ? 'Timeout' : 'ServiceUnavailable', definitive: false } as const,
  })),
  {
    because: '503 in plain text of the API server may be its answer for an aggregated one: it proves nothing',
    answer: answer(503, undefined, { 'audit-id': 'x' }),
    failure: { kind: 'transient', code: 503, reason: 'ServiceUnavailable', definitive: false },
  },
  {
    because: '500 in plain text of the API server is a panic',
    answer: answer(500, undefined, { 'audit-id': 'x' }),
    failure: { kind: 'transient', code: 500, reason: 'InternalError', definitive: false },
  },
  {
    because: '413 of a proxy is final: it takes no request of this size',
    answer: answer(413, undefined),
    failure: { kind: 'refused', code: 413, reason: 'RequestEntityTooLarge', definitive: true },
  },
  {
    because: '403 of a proxy does not show whom it refuses',
    answer: answer(403, undefined),
    failure: { kind: 'transient', code: 403, reason: 'AnswerUnreadable', definitive: false },
  },
  {
    because: 'what is wrong with a field is one of the words of the API server',
    answer: answer(
      422,
      status('Invalid', {
        details: {
          causes: [
            { field: 'spec.a', reason: 'FieldValueRequired' },
            { field: 'spec.b', reason: 'evil' },
          ],
        },
      }),
    ),
    failure: { fields: ['spec.a', 'spec.b'], complaints: { 'spec.a': 'FieldValueRequired' } },
  },
  {
    because: 'a redirect is not followed and proves nothing',
    answer: answer(302, undefined),
    failure: { kind: 'transient', code: 302, reason: 'AnswerUnreadable', definitive: false },
  },
  {
    because: 'the fields complained about, each once',
    answer: answer(
      422,
      status('Invalid', { details: { causes: [{ field: 'spec.a' }, { field: 'spec.a' }, { field: 'spec.b' }, {}] } }),
    ),
    failure: { kind: 'refused', fields: ['spec.a', 'spec.b'] },
  },
  {
    because: 'a reason that is one of the API server’s own is kept, whatever the code',
    answer: answer(403, status('Expired')),
    failure: { reason: 'Expired', message: 'words for people' },
  },
  {
    because: 'the message does not repeat the words of a reason',
    answer: answer(400, status('no, no', { message: 'the webhook denied: no, no' })),
    failure: { reason: 'BadRequest', message: 'the webhook denied: no, no' },
  },
  {
    because: 'reason, message and fields are made harmless',
    answer: answer(
      403,
      status('\u202eevil\n\u0000', { message: 'a\r\nb\u001b[31m\u200b', details: { causes: [{ field: 'spec\n.a' }] } }),
    ),
    failure: { reason: 'Forbidden', message: 'a b\\u{1b}[31m\\u{200b} (\\u{202e}evil \\u{0})', fields: ['spec .a'] },
  },
  {
    because: 'an unknown code of the client kind will be answered again',
    answer: answer(418, status('Teapot')),
    failure: { kind: 'refused', definitive: true },
  },
];

for (const { because, answer: given, failure } of rows) {
  t.test(because, async (t) => {
    t.match(failureOfAnswer(given), failure);
    t.ok(/^[A-Z][A-Za-z]+$/.test(failureOfAnswer(given).reason), 'the reason is CamelCase');
  });
}

t.test('a refusal by a policy has no subject', async (t) => {
  const details = { name: 'web', causes: [{ message: 'no' }] };
  t.equal(failureOfAnswer(answer(403, status('Forbidden', { details }))).subject, undefined);
});

t.test('every text of an answer is bounded', async (t) => {
  const long = '\u{1f600}'.repeat(100_000);
  const causes = Array.from({ length: 10_000 }, (_, index) => ({ field: `${index}${long}` }));
  const { message, fields, retryAfterSeconds } = failureOfAnswer(
    answer(400, status(long, { message: long, details: { causes, retryAfterSeconds: 1e300 } })),
  );
  t.ok(message.length < 5_000, `${message.length} characters`);
  t.ok(fields.length <= 20 && fields.every((field) => field.length <= 200), `${fields.length} fields`);
  t.ok((retryAfterSeconds ?? 0) <= 3_600, `${retryAfterSeconds} s`);
  t.ok([message, ...fields].every((text) => text.isWellFormed()));
});

t.test('a request without options has no field', async (t) => {
  t.notOk('retryAfterSeconds' in failureOfAnswer(answer(503, status('x'))));
  const dated = { date: 'Thu, 01 Jan 2026 00:00:00 GMT', 'retry-after': 'Thu, 01 Jan 2026 00:00:30 GMT' };
  t.equal(failureOfAnswer(answer(503, status('x'), dated)).retryAfterSeconds, 30, 'a date, as proxies write it');
  t.notOk('retryAfterSeconds' in failureOfAnswer(answer(503, status('x'), { 'retry-after': 'tomorrow' })));
});

const errors: readonly (readonly [code: string, reason: string])[] = [
  ['ECONNREFUSED', 'ConnectionFailed'],
  ['ECONNRESET', 'ConnectionFailed'],
  ['UND_ERR_SOCKET', 'ConnectionFailed'],
  ['UND_ERR_RES_CONTENT_LENGTH_MISMATCH', 'ConnectionFailed'],
  ['UND_ERR_CONNECT_TIMEOUT', 'Timeout'],
  ['UND_ERR_HEADERS_TIMEOUT', 'Timeout'],
  ['UND_ERR_BODY_TIMEOUT', 'Timeout'],
  ['UND_ERR_RES_EXCEEDED_MAX_SIZE', 'AnswerTooLarge'],
];

for (const [code, reason] of errors)
  t.test(`no answer (${code}) proves nothing`, async (t) => {
    const failure = failureOfError(Object.assign(new Error('secret words'), { code }));
    t.match(failure, { kind: 'transient', code: 0, reason, definitive: false });
    t.notMatch(failure.message, /secret/);
  });

t.test('a signal ends a request after its time', async (t) => {
  t.match(failureOfError(AbortSignal.abort(new DOMException('x', 'TimeoutError')).reason), {
    reason: 'Timeout',
    definitive: false,
  });
});

t.test('the port handles a thrown value that is no error', async (t) => {
  t.match(failureOfError('x'), { kind: 'transient', reason: 'ConnectionFailed', definitive: false });
});
