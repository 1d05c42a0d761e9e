// Turns an answer of the API server, or a missing answer, into a Failure. Pure.
//
// 1. Only the HTTP status, `reason` of the Status and error codes decide, never the text of a message.
// 2. A webhook may have written reason, message and fields of an answer: any text, of any length. This file shortens and cleans
//    them. If the API server does not have the reason, the reason of the code replaces it.
// 3. If an answer is not from the API server (a load balancer's page, a cut body), it proves nothing: it is transient, not definitive.
//    Its code still gives the reason if HTTP gives the code one meaning (`sharedCodes`). Only 413 is final: a proxy that takes no request
//    of this size has not passed it on, and will not.
// 4. The API server answers some requests in plain text, such as those that it does not let in (429). The Audit-Id header, which it sets
//    for each request, proves that it answered. Source: k8s.io/apiserver, pkg/endpoints/filters/audit_init.go.
import type { Failure, FailureKind } from '../../hooks/objects/failure.ts';
import { type ApiReason, apiReasons, type FailureReason, fieldErrorTypes, tooLarge } from '../../hooks/objects/failure.ts';
import { at, isList, type Json, textAt } from '../../hooks/objects/json.ts';
import { foreign } from '../../hooks/objects/words.ts';

/** The parts of an HTTP answer that a failure needs. Header names are lower case. */
export interface HttpAnswer {
  readonly code: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The parsed body; undefined if it is not JSON. */
  readonly body: Json | undefined;
}

/** The Failure for an answer outside 2xx. */
export function failureOfAnswer(answer: HttpAnswer): Failure {
  if (answer.code < 400) return unreadable(answer.code);
  if (textAt(answer.body, 'kind') !== 'Status') return failureWithoutStatus(answer);
  const given = textAt(answer.body, 'reason') ?? '';
  const reason = isApiReason(given) ? given : reasonOfCode(answer.code);
  const origin = originOf(answer.code, given, answer.body);
  return {
    kind: origin === 'policy' && answer.code === 401 ? 'refused' : kindOf(answer.code, reason),
    code: answer.code,
    reason,
    message: messageOf(answer, given),
    ...fieldsOf(answer.body),
    ...(origin === undefined ? {} : { origin }),
    ...subjectOf(answer.body),
    ...conflictsOf(answer),
    definitive: isDefinitive(answer.code),
    ...retryAfterOf(answer),
  };
}

function failureWithoutStatus(answer: HttpAnswer): Failure {
  const { code } = answer;
  const isOfApiServer = answer.headers['audit-id'] !== undefined;
  // If a whole group or version is not served, for example after its CustomResourceDefinition was deleted.
  if (code === 404 && isOfApiServer) {
    const message = 'the API server does not serve this group and version';
    return { kind: 'absent', code, reason: 'NotFound', message, fields: [], definitive: true };
  }
  if (code === 413) return tooLarge(`${answererOf(isOfApiServer)} takes no request of this size`);
  const reason = sharedCodes.includes(code) || (isOfApiServer && code === 500) ? reasonInPlainText(code) : undefined;
  if (reason === undefined) return { ...unreadable(code), ...retryAfterOf(answer) };
  const message = `${answererOf(isOfApiServer)} answered with HTTP status ${code}, without a reason`;
  return { ...transientFailure(code, reason, message), definitive: isOfApiServer && isDefinitive(code), ...retryAfterOf(answer) };
}

/** Codes with one meaning, whoever answers: not known, too many requests, not reachable, too late. Source: RFC 9110, RFC 6585. */
const sharedCodes: readonly number[] = [401, 429, 502, 503, 504];

function answererOf(isOfApiServer: boolean): string {
  return isOfApiServer ? 'the API server' : 'a proxy in front of the API server';
}

function reasonInPlainText(code: number): FailureReason {
  return code === 500 ? 'InternalError' : reasonOfCode(code);
}

function isApiReason(text: string): text is ApiReason {
  return (apiReasons as readonly string[]).includes(text);
}

/** In UTF-16 units. */
const longest = { message: 4_000, reason: 256, field: 200, subject: 253, owner: 128 } as const;
const mostFields = 20;
const mostConflicts = 50;

function messageOf({ body, code }: HttpAnswer, reason: string): string {
  const message = foreign(textAt(body, 'message') || `the API server answered ${code}`, longest.message);
  const words = foreign(reason, longest.reason);
  return reason === '' || isApiReason(reason) || message.includes(words) ? message : `${message} (${words})`;
}

/** An answer that does not show whether the request took effect. */
export function unreadable(code: number): Failure {
  const message = `the answer with HTTP status ${code} is not one of the Kubernetes API: it is cut, not JSON, or from a proxy`;
  return transientFailure(code, 'AnswerUnreadable', message);
}

const reasonOfError: Readonly<Record<string, FailureReason>> = {
  TimeoutError: 'Timeout',
  UND_ERR_CONNECT_TIMEOUT: 'Timeout',
  UND_ERR_HEADERS_TIMEOUT: 'Timeout',
  UND_ERR_BODY_TIMEOUT: 'Timeout',
  UND_ERR_RES_EXCEEDED_MAX_SIZE: 'AnswerTooLarge',
  NO_ROOM_FOR_ANSWER: 'Busy',
};

/** The Failure for a request without an answer: connection refused or reset, timeout, an answer cut short. */
export function failureOfError(error: unknown): Failure {
  const code = codeOf(error);
  const reason = reasonOfError[code] ?? 'ConnectionFailed';
  return transientFailure(0, reason, `no answer from the API server (${code === '' ? 'unknown error' : code})`);
}

/** The Failure for a request that was not sent, because its name or identity would not be safe in a request. */
export function notSendable(reason: FailureReason, message: string): Failure {
  return { kind: 'refused', code: 400, reason, message, fields: [], definitive: true };
}

/** A failure of this process before it sent anything. Unlike a lost answer, it proves that the request has no effect. */
export function notSent(reason: FailureReason, message: string): Failure {
  return { ...transientFailure(0, reason, message), definitive: true };
}

function transientFailure(code: number, reason: FailureReason, message: string): Failure {
  return { kind: 'transient', code, reason, message, fields: [], definitive: false };
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  if (error.name === 'TimeoutError') return error.name;
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}

function kindOf(code: number, reason: string): FailureKind {
  if (code === 404) return 'absent';
  if (code === 409) return reason === 'AlreadyExists' ? 'exists' : 'stale';
  return code >= 500 || [401, 408, 429].includes(code) ? 'transient' : 'refused';
}

function isDefinitive(code: number): boolean {
  return code < 500 && code !== 408;
}

const reasonsOfCodes: Readonly<Record<number, ApiReason>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  406: 'NotAcceptable',
  408: 'Timeout',
  409: 'Conflict',
  410: 'Gone',
  413: 'RequestEntityTooLarge',
  415: 'UnsupportedMediaType',
  422: 'Invalid',
  429: 'TooManyRequests',
  502: 'ServiceUnavailable',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};

function reasonOfCode(code: number): FailureReason {
  return reasonsOfCodes[code] ?? 'Unknown';
}

function fieldsOf(status: Json | undefined): Pick<Failure, 'fields' | 'complaints'> {
  const causes = at(status, 'details', 'causes');
  if (!isList(causes)) return { fields: [] };
  const found = causes.slice(0, mostFields).map((cause) => ({
    field: foreign(textAt(cause, 'field') ?? '', longest.field),
    complaint: fieldErrorTypes.find((one) => one === textAt(cause, 'reason')),
  }));
  const named = found.filter(({ field }) => field !== '');
  const complaints = named.flatMap(({ field, complaint }) => (complaint === undefined ? [] : [[field, complaint] as const]));
  const fields = [...new Set(named.map(({ field }) => field))];
  return complaints.length === 0 ? { fields } : { fields, complaints: Object.fromEntries(complaints) };
}

// Sources: apiserver pkg/admission/plugin/policy (k8serrors.StatusError with one cause, a message alone, and the code of the reason:
// 401, 403, 413 or 422); apimachinery pkg/api/errors NewInternalError, with which admission reports that it could not call a webhook.
// A conversion that fails has no reason: pkg/endpoints/handlers/responsewriters/status.go, ErrorToAPIStatus.
function originOf(code: number, given: string, status: Json | undefined): Failure['origin'] {
  if (code === 500 && given === '') return 'call';
  const causes = at(status, 'details', 'causes');
  const isWithoutField = (cause: Json): boolean =>
    textAt(cause, 'field') === undefined && textAt(cause, 'reason') === undefined && textAt(cause, 'message') !== undefined;
  if (!isList(causes) || causes.length === 0 || !causes.every(isWithoutField)) return undefined;
  if (code === 500) return given === 'InternalError' ? 'call' : undefined;
  return [401, 403, 413, 422].includes(code) ? 'policy' : undefined;
}

function subjectOf(status: Json | undefined): { readonly subject?: string } {
  const name = textAt(status, 'details', 'name');
  return name === undefined || isList(at(status, 'details', 'causes')) ? {} : { subject: foreign(name, longest.subject) };
}

// Source: apimachinery, pkg/util/managedfields/internal/conflict.go: one cause for each field of each manager. The message is shown
// only: it names the manager.
function conflictsOf({ code, body }: HttpAnswer): Pick<Failure, 'conflicts'> {
  const causes = at(body, 'details', 'causes');
  if (code !== 409 || !isList(causes)) return {};
  const ofFields = causes.filter((cause) => textAt(cause, 'reason') === 'FieldManagerConflict').slice(0, mostConflicts);
  const conflicts = ofFields.map((cause) => ({
    field: foreign(textAt(cause, 'field') ?? '', longest.field),
    owner: foreign(ownerIn(textAt(cause, 'message') ?? ''), longest.owner),
  }));
  return conflicts.length === 0 ? {} : { conflicts };
}

function ownerIn(message: string): string {
  const [, name] = /"((?:[^"\\]|\\.)*)"/.exec(message) ?? [];
  return name ?? message;
}

/** In seconds. */
const longestWish = 3_600;

function retryAfterOf(answer: HttpAnswer): { readonly retryAfterSeconds?: number } {
  const header = secondsIn(answer.headers['retry-after'] ?? '', answer.headers.date ?? '');
  const wished = Number.isFinite(header) ? header : at(answer.body, 'details', 'retryAfterSeconds');
  return typeof wished === 'number' && wished > 0 ? { retryAfterSeconds: Math.min(wished, longestWish) } : {};
}

// Retry-After holds seconds or a date (RFC 9110, 10.2.3); a date counts from that of the answer.
function secondsIn(wish: string, date: string): number {
  if (/^\d+$/.test(wish)) return Number(wish);
  return /GMT$/.test(wish) ? (Date.parse(wish) - Date.parse(date)) / 1_000 : Number.NaN;
}
