// Failures are named by what must happen next, never by where they arose or by the text of a message.

/** `metav1.StatusReason`, all of it but the empty one. Source: k8s.io/apimachinery pkg/apis/meta/v1/types.go. */
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

/** Where no answer of the API server says why: the engine's own words. */
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
  'UnusableKey',
] as const;

type OwnFailureReason = (typeof ownFailures)[number];

/** `Unknown`: the API server named none, and the code has none. */
export type FailureReason = ApiReason | OwnFailureReason | 'Unknown';

export function isOwnReason(reason: FailureReason): reason is OwnFailureReason {
  return (ownFailures as readonly string[]).includes(reason);
}

/**
 * | kind        | HTTP status                                                   | what the engine does next                                     |
 * | ----------- | ------------------------------------------------------------- | ------------------------------------------------------------- |
 * | `absent`    | 404: the object or its kind is not there                      | evaluates the change without the object                       |
 * | `exists`    | 409 AlreadyExists                                             | reads the object, and evaluates whose it is                   |
 * | `stale`     | any other 409: a precondition did not hold                    | reads the object again, and evaluates it again                |
 * | `refused`   | 400, 403, 405, 413, 415, 422                                  | reports a fault, begins a rollback, or leaves the object      |
 * | `transient` | 401, 408, 429, 5xx; no answer, an unreadable one, no time left | tries again with a growing pause, at most until `spec.timeout` |
 *
 * `kindOf` in server/kubernetes/failures.ts assigns the kinds.
 */
export type FailureKind = Failure['kind'];

export type Failure = Passing | Refusal;

/** May be waited for. */
export interface Passing extends Answered {
  readonly kind: 'absent' | 'exists' | 'stale' | 'transient';
  /** Nothing failed: others had their turns first. The message says for what. */
  readonly isLate?: true;
}

/** Is final, and so is never waited for, once it is confirmed (decide/waiting.ts). */
export interface Refusal extends Answered {
  readonly kind: 'refused';
  /** Of a 403 to the engine itself, not to a ServiceAccount: for its own request, or since it may not impersonate the ServiceAccount. */
  readonly toEngine?: 'request' | 'impersonation';
}

interface Answered {
  /** HTTP status; 0 when no answer came. */
  readonly code: number;
  /**
   * `reason` of the API server's Status where it is one of its own, that of the code where it is not, our own word where no Status
   * came. For messages and logs: what it comes to in a status is `reasonOfFailure`.
   */
  readonly reason: FailureReason;
  /** For people, clean and bounded. May quote values of the request: never shown for objects whose content is secret. */
  readonly message: string;
  /** Paths of the fields that the API server, or a webhook, complained about; clean and bounded. May hold values too. */
  readonly fields: readonly string[];
  /** Of a server-side apply without force: the fields that others own with other values. Absent where there are none. */
  readonly conflicts?: readonly FieldConflict[];
  /** The object that the answer is about, by its name: where the API server names one and gives no causes, as policies do. */
  readonly subject?: string;
  /** What is said of it while the write is tried again: of which object, and why. Absent where no words of others may be shown. */
  readonly said?: string;
  /** True when the answer proves that the request has no effect now or later; a lost or a 5xx answer proves nothing. */
  readonly definitive: boolean;
  /** The server's wish, in seconds. */
  readonly retryAfterSeconds?: number;
}

/** A field as the API server writes its path, and who owns it, in words; clean and bounded. */
export interface FieldConflict {
  readonly field: string;
  readonly owner: string;
}

/** A kind that could not be listed, and why. */
export interface UnlistableKind<Why extends Failure = Failure> {
  /** Its plural with its group, or the APIService of the kinds. */
  readonly kind: string;
  /** As it was listed; absent for an APIService. */
  readonly apiVersion?: string;
  readonly failure: Why;
  /** The APIService is not Available: its kinds cannot be listed until somebody repairs or deletes it. */
  readonly isAway?: true;
}

/** Of an object, or of objects together, beyond a bound of the engine. */
export function tooLarge(message: string): Refusal {
  return { kind: 'refused', code: 413, reason: 'RequestEntityTooLarge', message, fields: [], definitive: true };
}

/** Of what was not sent, since there was no time left for it: the failure proves that it has no effect. */
export function deadlineExceeded(message: string): Passing {
  return { kind: 'transient', code: 0, reason: 'DeadlineExceeded', message, fields: [], definitive: true };
}

/** Of what had no turn in this call, since others came first. */
export function lateTurn(message: string): Passing {
  return { ...deadlineExceeded(message), isLate: true };
}
