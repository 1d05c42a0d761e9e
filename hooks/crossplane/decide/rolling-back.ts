// A try failed after it made objects: the hook rolls its stages back, the last one first.
//
// A late request may still create the announced stage, and every stage that somebody deleted. The hook takes its name first, with a
// stage that never begins. Then the late request gets 409, or it came before and is rolled back with the others. So the hook waits
// for nothing.

import { at, type JsonObject, listAt, textAt } from '../../objects/json.ts';
import { cut } from '../../objects/words.ts';
import { isLeft, requestRollback } from '../engine.ts';
import { installOf, type PackageTransaction } from '../model/package-transaction.ts';
import { advanced, mostMade, type Stage, type Status } from '../model/status.ts';
import type { ObservedTo } from '../observe/observation.ts';
import { isUndone } from '../writes/stages.ts';
import { type Step, setStatus } from './step.ts';
import { takeBack } from './transitions.ts';
import { undoLast } from './undo.ts';

type RollingBack = ObservedTo<'rollBack'>;

export function rollBack(observation: RollingBack): Step {
  const { running = [], written = [] } = observation;
  if (running.length + written.length > 0) return takeBack({ running, written }, observation.ptx.status);
  const step = undo(observation);
  return { ...step, kind: 'compensate', blocked: namesToBlock(observation, step.status) };
}

/** If a stage was made and is gone, its absence shows until the end what cannot be undone. */
function namesToBlock(observation: RollingBack, { phase, made }: Status): readonly number[] {
  const { status } = observation.ptx;
  return status.stages.slice(0, mostMade(status)).flatMap(({ name }, index) => {
    const isFree = stageOf(observation, name) === undefined && (index >= made || phase !== 'RollingBack');
    return isFree ? [index] : [];
  });
}

function undo(observation: RollingBack): Step {
  const { found } = observation;
  const ptx = { ...observation.ptx, status: withoutUndone(observation) };
  const { status } = ptx;
  const undone = undoLast(ptx, found);
  if (undone.kind === 'step') return undone.step;
  if (undone.kind === 'failed' && isOfNext(ptx, undone.stage))
    return setStatus(advanced(status, { phase: 'Releasing' }), 'the Package stays, which its next package transaction installs');
  if (undone.kind === 'failed') return setStatus(left(found, status, undone.stage), 'a stage could not be undone');
  if (undone.kind === 'refused')
    return setStatus(left(found, status, undone.stage, false), 'a stage does not begin its rollback');
  const lost = status.stages.slice(0, status.made).find(({ name }) => stageOf(observation, name) === undefined);
  if (lost !== undefined) return setStatus(gone(status, lost.name), 'a stage was deleted before it was rolled back');
  return setStatus(advanced(status, { phase: 'Releasing' }), 'everything is rolled back');
}

/** Whether the stage left nothing but the Package whose change has abandoned the try. */
function isOfNext(ptx: PackageTransaction, stage: JsonObject): boolean {
  const [wanted, names] = [installOf(ptx), leftIn(stage)];
  const isAbandoned = ptx.status.outcome?.kind === 'Abandoned' && wanted !== undefined;
  return isAbandoned && names.length > 0 && names.every((name) => name === `${wanted.kind} ${wanted.name}`);
}

function stageOf({ found }: RollingBack, name: string): JsonObject | undefined {
  return found.find((stage) => textAt(stage, 'metadata', 'name') === name);
}

/** If a stage is undone, the engine makes it no more, and anybody may delete it. */
function withoutUndone(observation: RollingBack): Status {
  const { status } = observation.ptx;
  const isMade = ({ name }: Stage): boolean => {
    const stage = stageOf(observation, name);
    return stage === undefined || !isUndone(stage);
  };
  const made = status.stages.slice(0, status.made).findLastIndex(isMade) + 1;
  return made === status.made ? status : advanced(status, { made });
}

/**
 * The outcome is final if a stage left an object, or did not begin its rollback. The stages stay, so that a user can request their
 * rollback again.
 */
function left(found: readonly JsonObject[], status: Status, stage: JsonObject, isBegun = true): Status {
  const name = textAt(stage, 'metadata', 'name') ?? '';
  const what = isBegun
    ? `it left ${firstOf(leftIn(stage)) || 'something'}, and the status of Transaction ${name} says why`
    : `Transaction ${name}, a stage of it, did not begin its rollback, and its status says why`;
  const annotation = isBegun ? 'tx.janus.io/retry-rollback' : `${requestRollback} and a new value`;
  return incomplete(status, `${what}; fix that, then annotate that Transaction with ${annotation}${earlierThan(found, stage)}`);
}

/** The stages before it, whose rollback has not begun, as a part of a sentence. */
function earlierThan(found: readonly JsonObject[], stage: JsonObject): string {
  const earlier = found.slice(found.indexOf(stage) + 1).filter((one) => !isUndone(one));
  if (earlier.length === 0) return '';
  const names = firstOf(earlier.map((one) => textAt(one, 'metadata', 'name') ?? ''));
  return `; after it annotate the stages before it with ${requestRollback}, in this order: ${names}`;
}

/** Whoever deleted the stage deleted the only way to undo it. No rollback can be tried again, so the others need not stay. */
function gone(status: Status, name: string): Status {
  const what = `Transaction ${name}, a stage of it, was deleted before it was rolled back: what it had changed stays`;
  return incomplete(status, `${what}; compare its objects with the package that the Lock names`, 'Installation');
}

function incomplete(status: Status, what: string, step: 'Rollback' | 'Installation' = 'Rollback'): Status {
  const rest = `; the rollback is incomplete: ${what}`;
  const message = `${cut(status.outcome?.message ?? '', longestOutcome - rest.length)}${rest}`;
  const outcome = { kind: 'Failed', step, reason: 'RollbackIncomplete', message, isFinal: true } as const;
  return advanced(status, { phase: 'Releasing', outcome });
}

/** The limit in characters: the CRD stores no longer message. */
const longestOutcome = 8_192;

const mostNamed = 5;

function firstOf(names: readonly string[]): string {
  const more = names.length > mostNamed ? [`${names.length - mostNamed} more`] : [];
  return [...names.slice(0, mostNamed), ...more].join(', ');
}

/** Kind and name of the targets that a stage could not restore. */
function leftIn(stage: JsonObject): readonly string[] {
  const changes = listAt(stage, 'spec', 'changes');
  return listAt(stage, 'status', 'items').flatMap((item, index) => {
    if (!isLeft(item)) return [];
    const target = at(changes[index], 'target');
    return [`${textAt(target, 'kind')} ${textAt(target, 'name')}`];
  });
}
