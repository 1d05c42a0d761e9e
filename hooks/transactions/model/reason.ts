// Every word that may be a reason in a status, in an Event or in a label. The lists are closed, so another writer's word cannot
// pass for a word of the engine. docs/reasons.md explains each word.
//
// The API server and this engine use some words for different things (`Conflict`, `Gone`, `NotFound`, `Timeout`, ...), and an admission
// webhook answers with whichever word it likes. So the engine shows the reason of an answer in messages and logs only. The reason
// in a status follows from the HTTP code of the answer (`reasonOfFailure`), never from its words. A 409 that names the object in conflict, as
// the API server does, is a Conflict: the engine has read and tried again before.
import { type FailureReason, isOwnReason } from '../../objects/failure.ts';
import { type Phase, phases } from './phase.ts';

/** What the engine has found out by itself. */
const ownReasons = [
  'AlreadyExists',
  'Conflict',
  'ContentMismatch',
  'ContentUnavailable',
  'Deleted',
  'DuplicateTarget',
  'EngineFault',
  'FieldConflict',
  'ForeignContent',
  'Forbidden',
  'GateFailed',
  'GateTimeout',
  'Gone',
  'Inconsistent',
  'Invalid',
  'Irreversible',
  'LaterTransaction',
  'LockHeld',
  'LockLost',
  'LockRefused',
  'NotEmpty',
  'StoredVersions',
  'NeededByKept',
  'NotFound',
  'OtherApp',
  'Recreated',
  'Refused',
  'Replaced',
  'ResourceVersion',
  'RollbackConflict',
  'RollbackRequested',
  'RollbackTimeout',
  'ServiceAccountMissing',
  'SnapshotBroken',
  'SnapshotRefused',
  'SnapshotTooLarge',
  'SpecChanged',
  'Terminating',
  'Timeout',
  'TransactionTooLarge',
  'UnknownKind',
] as const;

/** The reasons of a refusal by the API server, or by admission: neither another writer's work, nor a finding of the engine. */
const refusals = [
  'BadRequest',
  'Denied',
  'Forbidden',
  'Invalid',
  'InvalidContent',
  'InvalidIdentity',
  'InvalidName',
  'MethodNotAllowed',
  'NotAcceptable',
  'RequestEntityTooLarge',
  'UnsupportedMediaType',
] as const;

/** Trouble that passes. */
const troubles = [
  'AnswerTooLarge',
  'AnswerUnreadable',
  'Busy',
  'ConnectionFailed',
  'CredentialsUnavailable',
  'DeadlineExceeded',
  'InternalError',
  'ServerTimeout',
  'ServiceUnavailable',
  'TooManyRequests',
  'Unauthorized',
  'Unknown',
  'UnusableKey',
] as const;

/** The reasons of conditions, if nothing has failed. */
const stages = ['NoSnapshot', 'SnapshotStored', 'ReleasingLocks', 'WaitingForLocks', 'WaitingForGate'] as const;

/** Why the engine has refused an undo. */
export const refusedUndos = ['UndoRefused', 'PlanChanged'] as const;

/** A reason that this version of the engine does not know. */
const other = 'Other';

/** Why a change, or a Transaction, is in its state. */
export type Reason = (typeof ownReasons)[number] | (typeof refusals)[number] | (typeof troubles)[number] | typeof other;

/** The reason of a condition. */
export type ConditionReason = Reason | Phase | (typeof stages)[number] | (typeof refusedUndos)[number];

const byCode: Readonly<Record<number, Reason>> = {
  // No answer in time.
  0: 'ServerTimeout',
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  405: 'MethodNotAllowed',
  406: 'NotAcceptable',
  408: 'ServerTimeout',
  413: 'RequestEntityTooLarge',
  415: 'UnsupportedMediaType',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  502: 'ServiceUnavailable',
  503: 'ServiceUnavailable',
  504: 'ServerTimeout',
};

interface Refusal {
  readonly code: number;
  readonly reason: FailureReason;
  readonly conflicts?: readonly unknown[];
  readonly subject?: string;
}

/** The reason in a status for a failed request. Not found and gone follow from reads, not from a refusal. */
export function reasonOfFailure(refusal: Refusal): Reason {
  const { code, reason, conflicts } = refusal;
  if (conflicts !== undefined) return 'FieldConflict';
  if (isOwnReason(reason)) return reason;
  if (isConflict(refusal)) return 'Conflict';
  return byCode[code] ?? (code >= 500 ? 'InternalError' : 'Denied');
}

// As the API server reports that two writers have met: at the object itself, or at a ResourceQuota that counts it. Source: apimachinery
// pkg/api/errors, NewConflict.
function isConflict({ code, reason, subject }: Refusal): boolean {
  return code === 409 && reason === 'Conflict' && subject !== undefined;
}

const known: ReadonlySet<string> = new Set<string>([...ownReasons, ...refusals, ...troubles, ...stages, ...phases]);

/** The reason as a label of a figure. */
export function labelOf(reason: string): string {
  return known.has(reason) ? reason : other;
}

const storable = /^[A-Za-z]([A-Za-z0-9_,:]{0,254}[A-Za-z0-9_])?$/;

/** The reason if the CRD takes it: that of a status which another version has stored may be any word. */
export function storableReason(reason: Reason): Reason {
  return storable.test(reason) ? reason : other;
}
