// The status of a package transaction, as values.
import { at, isList, isObject, type JsonObject, objectsAt, textAt } from '../../objects/json.ts';
import type { PackagePlan } from './plan.ts';
import { type PackageReplacement, readReplaced } from './replaced.ts';

/** `Waiting`: for the Lock, or until the next try. */
export const phases = [
  'Waiting',
  'Validating',
  'Preparing',
  'Installing',
  'Verifying',
  'Deleting',
  'RollingBack',
  'Releasing',
  'Succeeded',
  'Failed',
] as const;

type Phase = (typeof phases)[number];

/** The condition of that type. Undefined if the object has none. */
export function conditionOf(object: JsonObject, type: string): JsonObject | undefined {
  return objectsAt(object, 'status', 'conditions').find((one) => textAt(one, 'type') === type);
}

/** Whether the hook will do nothing more. */
export function isTerminal(phase: string | undefined): boolean {
  return phase === 'Succeeded' || phase === 'Failed';
}

const purposes = ['Packages', 'Revisions', 'Pauses', 'Objects', 'Releases', 'Activation', 'Deactivation'] as const;

export type Purpose = (typeof purposes)[number];

/** A stage: a Transaction of the engine, and the ConfigMap with its contents if it has any. */
export interface Stage {
  readonly name: string;
  readonly purpose: Purpose;
  /** SHA-256 of its contents; absent if it has none. */
  readonly digest?: string;
}

/** Why a try ends. */
export interface Outcome {
  readonly kind: 'Succeeded' | 'Failed' | 'Abandoned';
  readonly step?: 'Validation' | 'Installation' | 'Rollback' | 'Deletion';
  readonly reason?: string;
  readonly message?: string;
  /** Another try could not help. */
  readonly isFinal?: boolean;
  /** How long a registry asks the hook to wait. */
  readonly retryAfterSeconds?: number;
}

const textFields = [
  'startTime',
  'completionTime',
  'specDigest',
  /** The digest of Lock.packages when this try was resolved. */
  'lockDigest',
  'tryTime',
  'retryTime',
  /** The time of the first deletion: from then on nothing is undone. */
  'deletionTime',
  /** When the hook has stopped what Crossplane ran of the packages that leave, of a Replace. */
  'stoppedTime',
  /** Until then, a request for the holder of the Lock that is gone may still take effect. */
  'settledTime',
  /** The holder of the Lock that was found gone. `settledTime` belongs to this holder. */
  'settledHolder',
  /** When the hook next deletes what a finished package transaction has left. Absent once nothing is left. */
  'sweepTime',
  /** When Crossplane got revisions before the Lock is written, because their CRDs need an authority that only it can give. */
  'handOverTime',
  /** Instances that lose values because the user has allowed it, in words. */
  'lostValues',
  /** Why Crossplane has not got a revision, although the Lock is written. The hook tries it again. */
  'handOverFault',
] as const;

export interface Status extends Readonly<Partial<Record<(typeof textFields)[number], string>>> {
  readonly phase: Phase;
  /** Grows with every progress; 0 before the first. */
  readonly version: number;
  readonly failures: number;
  readonly number?: number;
  /** The whole Lock after the change. */
  readonly proposed?: readonly JsonObject[];
  readonly stages: readonly Stage[];
  /** Stages whose creation the API server has answered. */
  readonly made: number;
  readonly committed: number;
  /** For how long no provider has reconciled the resources, of a Replace beside Crossplane. */
  readonly gapSeconds?: number;
  readonly outcome?: Outcome;
  /** The uids of the package objects and revisions that leave, as they were before the first deletion. */
  readonly leavingUids?: readonly string[];
  /** The packages that leave, of a Replace. */
  readonly replaced?: readonly PackageReplacement[];
  /** The result of a dry run. */
  readonly plan?: PackagePlan;
  readonly conditions: readonly JsonObject[];
}

/** Whether a part of what leaves is deleted: from then on nothing is undone. */
export function isForward({ deletionTime }: Status): boolean {
  return deletionTime !== undefined;
}

function integerAt(value: JsonObject, key: string): number | undefined {
  const found = at(value, key);
  return typeof found === 'number' && Number.isSafeInteger(found) && found >= 0 ? found : undefined;
}

/** Without a stage that activates them, the revisions stay Inactive. */
export function isActivated({ stages }: Status): boolean {
  return stages.some(({ purpose }) => purpose === 'Activation');
}

/** Whether this version has all phases and stages that the stored status names. A newer version may have more of them. */
export function isKnown(stored: JsonObject): boolean {
  const phase = at(stored, 'phase');
  const stages = objectsAt(stored, 'stages').map((stage) => at(stage, 'purpose'));
  return (
    (phase === undefined || phases.some((one) => one === phase)) &&
    stages.every((purpose) => purposes.some((one) => one === purpose))
  );
}

/** The stored status. An empty status begins a package transaction. */
export function readStatus(stored: JsonObject): Status {
  const phase = textAt(stored, 'phase') ?? '';
  const [outcome, plan] = [at(stored, 'outcome'), at(stored, 'plan')];
  const texts = textFields.flatMap((key) => (textAt(stored, key) === undefined ? [] : [[key, textAt(stored, key)]]));
  const count = (key: string): number => integerAt(stored, key) ?? 0;
  const [replaced, uids] = [readReplaced(stored), at(stored, 'leavingUids')];
  return {
    phase: phases.find((one) => one === phase) ?? 'Waiting',
    version: count('version'),
    failures: count('failures'),
    ...numbersIn(stored),
    ...Object.fromEntries(texts),
    stages: objectsAt(stored, 'stages').map(readStage),
    made: count('made'),
    committed: count('committed'),
    ...(isObject(outcome) ? { outcome: outcome as unknown as Outcome } : {}),
    ...(isObject(plan) ? { plan: plan as unknown as PackagePlan } : {}),
    ...(isList(uids) ? { leavingUids: uids.filter((one) => typeof one === 'string') } : {}),
    ...(replaced.length > 0 ? { replaced } : {}),
    conditions: objectsAt(stored, 'conditions'),
  };
}

function numbersIn(stored: JsonObject): Pick<Status, 'number' | 'proposed' | 'gapSeconds'> {
  const [number, proposed] = [integerAt(stored, 'transactionNumber'), at(stored, 'proposedLockPackages')];
  const gapSeconds = integerAt(stored, 'gapSeconds');
  return {
    ...(gapSeconds === undefined ? {} : { gapSeconds }),
    ...(number === undefined ? {} : { number }),
    ...(isList(proposed) ? { proposed: proposed.filter(isObject) } : {}),
  };
}

function readStage(stage: JsonObject): Stage {
  const digest = textAt(stage, 'digest');
  const purpose = (textAt(stage, 'purpose') ?? 'Packages') as Purpose;
  return { name: textAt(stage, 'name') ?? '', purpose, ...(digest === undefined ? {} : { digest }) };
}

/** The status as it is stored. */
export function writeStatus(status: Status, conditions: readonly JsonObject[]): JsonObject {
  const { number, proposed, stages, outcome, plan, replaced, ...rest } = status;
  const progress = `${status.committed}/${stages.length}`;
  return {
    ...rest,
    conditions,
    ...(number === undefined ? {} : { transactionNumber: number }),
    ...(proposed === undefined ? {} : { proposedLockPackages: proposed }),
    ...(stages.length === 0 ? {} : { stages: stages.map((one) => ({ ...one })), progress }),
    ...(outcome === undefined ? {} : { outcome: { ...outcome } }),
    ...(plan === undefined ? {} : { plan: plan as unknown as JsonObject }),
    ...(replaced === undefined ? {} : { replaced: replaced.map((one) => ({ ...one })) }),
  };
}

/**
 * How many stages of this try may have been made. `made` falls as stages are undone, and the stage that was announced may be
 * created late.
 */
export function mostMade({ made, committed }: Status): number {
  return Math.max(made, committed) + 1;
}

/** A step forward. A field that is set to undefined is dropped. */
export function advanced(status: Status, changes: { readonly [Key in keyof Status]?: Status[Key] | undefined }): Status {
  const next = { ...status, ...changes, version: status.version + 1 };
  return Object.fromEntries(Object.entries(next).filter(([, value]) => value !== undefined)) as unknown as Status;
}

/** RFC 3339 in whole seconds, from ms since the epoch. */
export function timeOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/\.\d+Z$/, 'Z');
}

/** ms since the epoch; 0 if there is no time. */
export function millisecondsOf(time: string | undefined): number {
  const read = time === undefined ? 0 : Date.parse(time);
  return Number.isNaN(read) ? 0 : read;
}
