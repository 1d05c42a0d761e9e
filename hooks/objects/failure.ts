// A failure has the name of the engine's next step, never of its place or of the text of a message.

/** `metav1.StatusReason`, all reasons but the empty one. Source: k8s.io/apimachinery pkg/apis/meta/v1/types.go. */
export const apiReasons = [
  'Unauthorized',
  'Forbidden',
  'NotFound',
  'AlreadyExists',
  'Conflict',
  'Gone',
  'Invalid',
  'ServerTimeout',
  'StorageReadError',
  'Timeout',
  'TooManyRequests',
  'BadRequest',
  'MethodNotAllowed',
  'NotAcceptable',
  'RequestEntityTooLarge',
  'UnsupportedMediaType',
  'InternalError',
  'Expired',
  'ServiceUnavailable',
] as const;

export type ApiReason = (typeof apiReasons)[number];

/** The engine's own words, if no answer of the API server names a reason. */
const ownFailures = [
  'AnswerTooLarge',
  'AnswerUnreadable',
  'Busy',
  'ConnectionFailed',
  'CredentialsUnavailable',
  'DeadlineExceeded',
  'InvalidContent',
  'InvalidIdentity',
  'InvalidName',
  'UnknownKind',
  'UnusableKey',
] as const;

type OwnFailureReason = (typeof ownFailures)[number];

/** `Unknown`: the API server named no reason, and the code has none. */
export type FailureReason = ApiReason | OwnFailureReason | 'Unknown';

export function isOwnReason(reason: FailureReason): reason is OwnFailureReason {
  return (ownFailures as readonly string[]).includes(reason);
}

/**
 * | kind        | HTTP status                                          | next step of the engine                                  |
 * | ----------- | ---------------------------------------------------- | -------------------------------------------------------- |
 * | `absent`    | 404: the object or its kind is not there             | evaluates the change without the object                  |
 * | `exists`    | 409 AlreadyExists                                    | reads the object, and evaluates whose it is              |
 * | `stale`     | any other 409: a precondition did not hold           | reads the object again, and evaluates it again           |
 * | `refused`   | 400, 403, 405, 413, 415, 422; a policy's 401         | reports a fault, begins a rollback, or leaves the object |
 * | `transient` | 401, 408, 429, 5xx; no readable answer; no time left | tries again, pauses grow, at most until `spec.timeout`   |
 *
 * `kindOf` in server/kubernetes/failures.ts assigns the kinds.
 */
export type FailureKind = Failure['kind'];

export type Failure = Passing | Refusal;

/** Kinds of failures that the engine may wait for. */
export interface Passing extends Answered {
  readonly kind: 'absent' | 'exists' | 'stale' | 'transient';
  /** Nothing failed: others had their turns first. The message shows what the call waited for. */
  readonly isLate?: true;
}

/**
 * Kinds that are final: the engine does not wait for them. It confirms the refusal of a read first (decide/refusals.ts), and a refused
 * write that may lag behind the change before it (outcome/lagging.ts).
 */
export interface Refusal extends Answered {
  readonly kind: 'refused';
  /**
   * A 403 to the engine itself, not to a ServiceAccount: for its own request, or because it may not impersonate the ServiceAccount.
   */
  readonly toEngine?: 'request' | 'impersonation';
}

interface Answered {
  /** HTTP status; 0 if no answer came. */
  readonly code: number;
  /**
   * `reason` of the API server's Status if it is one of the API server's own reasons; the reason of the code if it is not; the
   * engine's own word if no Status came. For messages and logs: `reasonOfFailure` computes the reason in a status.
   */
  readonly reason: FailureReason;
  /**
   * For people, clean and bounded. It may quote values of the request: the engine never shows it for objects whose content is
   * secret.
   */
  readonly message: string;
  /** Paths of the fields that the API server, or a webhook, complained about; clean and bounded. May hold values too. */
  readonly fields: readonly string[];
  /** What is wrong with some of `fields`. */
  readonly complaints?: Readonly<Record<string, FieldErrorType>>;
  /** After a server-side apply without force: the fields that others own with other values. Absent if there are no such fields. */
  readonly conflicts?: readonly FieldConflict[];
  /** The name of the object that the answer is about, if the API server names an object and gives no causes, as policies do. */
  readonly subject?: string;
  /**
   * What the causes of the answer show, if none of them names a field. `policy`: an admission policy denied the request. `call`: the
   * API server could not finish its admission or conversion, mostly because it could not call a webhook.
   */
  readonly origin?: 'policy' | 'call';
  /**
   * The text for people while the engine tries the write again: which object, and why. Absent if the engine may show no others'
   * words.
   */
  readonly said?: string;
  /** True if the answer proves that the request has no effect now or later. A lost answer or a 5xx proves nothing. */
  readonly definitive: boolean;
  /** The pause that the server requests, in seconds. */
  readonly retryAfterSeconds?: number;
}

/** `metav1.CauseType` of a field. Source: k8s.io/apimachinery pkg/apis/meta/v1/types.go, and pkg/util/validation/field/errors.go. */
export const fieldErrorTypes = [
  'FieldValueNotFound',
  'FieldValueRequired',
  'FieldValueDuplicate',
  'FieldValueInvalid',
  'FieldValueNotSupported',
  'FieldValueForbidden',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
] as const;

export type FieldErrorType = (typeof fieldErrorTypes)[number];

/** A field as the API server writes its path, and who owns it, in words; clean and bounded. */
export interface FieldConflict {
  readonly field: string;
  readonly owner: string;
}

/** A kind that the API server could not list, and why. */
export interface UnlistableKind<Why extends Failure = Failure> {
  /** Its plural with its group, or the APIService of the kinds. */
  readonly kind: string;
  /** The resource as it was listed; absent for an APIService. */
  readonly apiVersion?: string;
  readonly failure: Why;
  /** The APIService is not Available: the API server cannot list its kinds until somebody repairs or deletes it. */
  readonly isAway?: true;
}

/** The failure of an object, or of objects together, beyond a bound of the engine. */
export function tooLarge(message: string): Refusal {
  return { kind: 'refused', code: 413, reason: 'RequestEntityTooLarge', message, fields: [], definitive: true };
}

/** The failure of a request that was not sent, since there was no time left for it. It proves that the request has no effect. */
export function deadlineExceeded(message: string): Passing {
  return { kind: 'transient', code: 0, reason: 'DeadlineExceeded', message, fields: [], definitive: true };
}

/** The failure of a task that had no turn in this call, since others had their turns first. */
export function lateTurn(message: string): Passing {
  return { ...deadlineExceeded(message), isLate: true };
}
