// A try that failed after something was made: its stages are rolled back, the last one first.
//
// The stage that was announced, and every one that somebody deleted, may still be created by a late request. Its name is taken first, by a
// stage that never begins: the late request gets 409, or has come before and is rolled back with the others. So nothing is waited for.

import { at, isList, type JsonObject, textAt } from '../../objects/json.ts';
import { cut } from '../../objects/words.ts';
import { decodeItem, isNotRestored } from '../../transactions/model/item.ts';
import type { PackageTransaction } from '../model/package-transaction.ts';
import { advanced, mostMade, type Stage, type Status } from '../model/status.ts';
import { takenName } from '../plan/stages.ts';
import { type Deed, going, type Move } from './move.ts';
import { isUndone, requestRollback, undoLast } from './undo.ts';

interface RollingBack {
  readonly ptx: PackageTransaction;
  readonly namespace: string;
  /** The stages of this try that exist, the last one first. */
  readonly found: readonly JsonObject[];
}

export function rollBack(scene: RollingBack): Move {
  const move = undo(scene);
  return { ...move, deeds: [...namesTaken(scene, move.status), ...move.deeds] };
}

/** Who refuses to create these refuses a late request too. One that was made and is gone shows until the end what cannot be undone. */
function namesTaken(scene: RollingBack, { phase, made }: Status): readonly Deed[] {
  const { ptx, namespace } = scene;
  const isFree = (name: string, index: number): boolean =>
    stageOf(scene, name) === undefined && (index >= made || phase !== 'RollingBack');
  const announced = ptx.status.stages.slice(0, mostMade(ptx.status));
  return announced.flatMap(({ name }, index) =>
    isFree(name, index) ? [{ write: takenName(ptx, index, namespace), mayBeRefused: true as const }] : [],
  );
}

function undo(scene: RollingBack): Move {
  const { found } = scene;
  const ptx = { ...scene.ptx, status: withoutUndone(scene) };
  const { status } = ptx;
  const undone = undoLast({ ...scene, ptx }, found);
  if (undone.kind === 'move') return undone.move;
  if (undone.kind === 'failed') return going(left(scene, ptx, undone.stage), 'a stage could not be undone');
  if (undone.kind === 'refused') return going(unbegun(scene, ptx, undone.stage), 'a stage does not begin its rollback');
  const lost = status.stages.slice(0, status.made).find(({ name }) => stageOf(scene, name) === undefined);
  if (lost !== undefined) return going(gone(ptx, lost.name), 'a stage was deleted before it was rolled back');
  return going(advanced(status, { phase: 'Releasing' }), 'everything is rolled back');
}

function stageOf({ found }: RollingBack, name: string): JsonObject | undefined {
  return found.find((stage) => textAt(stage, 'metadata', 'name') === name);
}

/** A stage that is undone is made no more, and may be deleted by anybody. */
function withoutUndone(scene: RollingBack): Status {
  const { status } = scene.ptx;
  const isMade = ({ name }: Stage): boolean => {
    const stage = stageOf(scene, name);
    return stage === undefined || !isUndone(stage);
  };
  const made = status.stages.slice(0, status.made).findLastIndex(isMade) + 1;
  return made === status.made ? status : advanced(status, { made });
}

/** An undo that left something is final, and its stages stay, so that their rollback can be tried again. */
function left(scene: RollingBack, ptx: PackageTransaction, stage: JsonObject): Status {
  const name = textAt(stage, 'metadata', 'name') ?? '';
  const what = firstOf(leftIn(stage)) || 'something';
  return incomplete(
    ptx,
    `it left ${what}, and the status of Transaction ${name} says why; mend it, then annotate that Transaction with tx.janus.io/retry-rollback${earlierThan(scene, stage)}`,
  );
}

function unbegun(scene: RollingBack, ptx: PackageTransaction, stage: JsonObject): Status {
  const name = textAt(stage, 'metadata', 'name') ?? '';
  return incomplete(
    ptx,
    `Transaction ${name}, a stage of it, did not begin its rollback, and its status says why; mend it, then annotate that Transaction with ${requestRollback} and a new value${earlierThan(scene, stage)}`,
  );
}

/** The stages before it, of which the rollback is not begun, as a part of a sentence. */
function earlierThan({ found }: RollingBack, stage: JsonObject): string {
  const earlier = found.slice(found.indexOf(stage) + 1).filter((one) => !isUndone(one));
  if (earlier.length === 0) return '';
  const names = firstOf(earlier.map((one) => textAt(one, 'metadata', 'name') ?? ''));
  return `; after it annotate the stages before it with ${requestRollback}, in this order: ${names}`;
}

/** Whoever deleted the stage took the way back along: nothing can be retried, so the others need not stay. */
function gone(ptx: PackageTransaction, name: string): Status {
  return incomplete(
    ptx,
    `Transaction ${name}, a stage of it, was deleted before it was rolled back: what it had changed stays; compare its objects with the package that the Lock names`,
    'Installation',
  );
}

function incomplete({ status }: PackageTransaction, what: string, step: 'Rollback' | 'Installation' = 'Rollback'): Status {
  const rest = `; the rollback is incomplete: ${what}`;
  const message = `${cut(status.outcome?.message ?? '', longestOutcome - rest.length)}${rest}`;
  const outcome = { kind: 'Failed', step, reason: 'RollbackIncomplete', message, isFinal: true } as const;
  return advanced(status, { phase: 'Releasing', outcome });
}

/** In characters: what the CRD stores of a message. */
const longestOutcome = 8_192;

const mostNamed = 5;

function firstOf(names: readonly string[]): string {
  const more = names.length > mostNamed ? [`${names.length - mostNamed} more`] : [];
  return [...names.slice(0, mostNamed), ...more].join(', ');
}

/** Kind and name of the targets that a stage could not restore. */
function leftIn(stage: JsonObject): readonly string[] {
  const [items, changes] = [at(stage, 'status', 'items'), at(stage, 'spec', 'changes')];
  return (isList(items) ? items : []).flatMap((item, index) => {
    const decoded = decodeItem(item);
    if (decoded === undefined || !isNotRestored(decoded)) return [];
    const target = isList(changes) ? at(changes[index], 'target') : undefined;
    return [`${textAt(target, 'kind')} ${textAt(target, 'name')}`];
  });
}
