// What the writes of a step are about, for the last check before they leave (perform/invariants.ts).
import type { Packer } from '../../objects/cluster.ts';
import type { Step } from '../decide/step.ts';
import type { WriteContext } from '../model/invariant.ts';
import type { Status } from '../model/status.ts';
import type { Transaction } from '../model/transaction.ts';
import { isSnapshotOf } from '../snapshots/names.ts';

/** The Transaction as the attempt has read it. */
interface Found {
  readonly transaction: Transaction;
  /** As it is stored, whatever this call has done since. */
  readonly status: Status;
}

interface Parts {
  readonly sealer: Packer;
  readonly engineNamespace: string;
}

const directions: Partial<Record<Step['kind'], NonNullable<WriteContext['about']>['direction']>> = {
  apply: 'change',
  compensate: 'undo',
  releaseFields: 'release',
};

/** Only three kinds of steps write a target. */
export function writeContextOf(
  step: Step,
  { transaction, status: stored }: Found,
  { sealer, engineNamespace }: Parts,
): WriteContext {
  const { namespace } = transaction;
  const direction = directions[step.kind];
  const about = direction !== undefined && 'index' in step ? { about: { index: step.index, direction } } : {};
  const isSnapshot = (name: string): boolean =>
    isSnapshotOf({ metadata: { namespace, name } }, transaction, sealer, stored.rollbackRef);
  return { transaction, stored, ...about, engineNamespace, isSnapshot };
}
