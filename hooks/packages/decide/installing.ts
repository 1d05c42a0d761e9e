// Stage after stage: the next one is made once the one before is Committed.
import { at, isList, type JsonObject, textAt } from '../../objects/json.ts';
import { foreign } from '../../objects/words.ts';
import { faultOf } from '../due.ts';
import type { PackageTransaction } from '../model/package-transaction.ts';
import { advanced, type Outcome } from '../model/status.ts';
import type { Sourced } from '../plan/contents.ts';
import { contentsWrite, stageWrite } from '../plan/stages.ts';
import { abandoned, ended, lostLock } from './ends.ts';
import { type Deed, going, type Move, safetyWait, staying } from './move.ts';
import { isAsResolved } from './preparing.ts';
import { phaseOf } from './undo.ts';

/** The changes of the stage that is made next, or why they cannot be known. */
export type NextChanges =
  | { readonly kind: 'changes'; readonly changes: readonly JsonObject[]; readonly source?: Sourced['source'] }
  | { readonly kind: 'lost'; readonly message: string };

interface Installing {
  readonly ptx: PackageTransaction;
  readonly namespace: string;
  readonly lock: JsonObject | undefined;
  /** The stage that is made last, as it is; undefined if it does not exist. */
  readonly stage: JsonObject | undefined;
  /** What the stage is made of, where it does not exist. */
  readonly next: NextChanges | undefined;
}

export function install(scene: Installing): Move {
  const { ptx, lock, stage } = scene;
  const { status } = ptx;
  const fault = faultOf(ptx);
  if (ptx.isDeleting) return going(abandoned(status), 'it is being deleted');
  if (fault !== undefined) return going(ended(status, failure(fault, true)), fault);
  if (!isAsResolved(ptx, lock)) return going(lostLock(status), 'the Lock is not as it was');
  if (status.committed >= status.stages.length)
    return going(advanced(status, { phase: 'Verifying' }), 'all stages are Committed');
  return stage === undefined ? making(scene) : watching(scene, stage);
}

function failure(message: string, isFinal = false): Outcome {
  const final = isFinal ? { isFinal } : {};
  return { kind: 'Failed', step: 'Installation', reason: 'InstallationFailed', message, ...final };
}

function making(scene: Installing): Move {
  const { ptx, namespace, next } = scene;
  const { status } = ptx;
  const index = status.committed;
  if (status.made > index) return going(ended(status, failure('a stage was deleted while it was under way')), 'a stage is gone');
  if (next === undefined) return staying(status, 'nothing was read', 1);
  if (next.kind === 'lost') return going(ended(status, failure(next.message)), next.message);
  return {
    because: `stage ${index + 1} of ${status.stages.length} is made`,
    deeds: [...sourceDeeds(scene, next), { write: stageWrite(ptx, index, next.changes, namespace) }],
    status: advanced(status, { made: index + 1 }),
    wait: safetyWait,
    refused: ({ message }) => ended(status, failure(message)),
  };
}

/** Somebody else's contents under that name do no harm: the stage names their digests. */
function sourceDeeds({ ptx, namespace }: Installing, { source }: Extract<NextChanges, { kind: 'changes' }>): readonly Deed[] {
  if (source === undefined) return [];
  const place = { name: source.name, index: ptx.status.committed, namespace };
  return [{ write: contentsWrite(ptx, source, place), settledBy: 'exists' }];
}

function watching(scene: Installing, stage: JsonObject): Move {
  const { status } = scene.ptx;
  const [index, phase] = [status.committed, phaseOf(stage)];
  const changed = { made: index + 1 };
  if (phase === 'Committed')
    return going(advanced(status, { ...changed, committed: index + 1 }), `stage ${index + 1} is Committed`);
  if (phase === 'RolledBack' || phase === 'Failed')
    return going(ended(advanced(status, changed), failedBy(stage)), `stage ${index + 1} failed`);
  const next = status.made > index ? status : advanced(status, changed);
  return staying(next, `stage ${index + 1} is ${phase}`, safetyWait);
}

const longestWords = 2_000;

/** Why a stage failed, from its status: the change that it names, and the words of the engine. */
function failedBy(stage: JsonObject): Outcome {
  const items = at(stage, 'status', 'items');
  const index = isList(items) ? items.findIndex((item) => at(item, 'error') !== undefined) : -1;
  const words = textAt(isList(items) ? items[index] : undefined, 'error', 'message') ?? textAt(stage, 'status', 'message');
  const message = foreign(words ?? 'no message', longestWords);
  const changes = at(stage, 'spec', 'changes');
  const target = isList(changes) ? at(changes[index], 'target') : undefined;
  const [kind, name] = [textAt(target, 'kind') ?? 'an object', textAt(target, 'name') ?? ''];
  if (kind !== 'CustomResourceDefinition') return failure(`Failed to install ${kind} ${name}: ${message}`);
  const reason = 'CRDInstallationFailed';
  return { kind: 'Failed', step: 'Installation', reason, message: `Failed to install CRD ${name}: ${message}` };
}
