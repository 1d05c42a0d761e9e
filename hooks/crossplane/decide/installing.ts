// Stage after stage: the hook makes the next stage once the stage before it is Committed.
import { at, type JsonObject, listAt, textAt } from '../../objects/json.ts';
import { foreign } from '../../objects/words.ts';
import { faultOf } from '../due.ts';
import { isAsResolved } from '../model/holder.ts';
import { deletionOf, type PackageTransaction } from '../model/package-transaction.ts';
import { advanced, isForward, type Outcome } from '../model/status.ts';
import type { ObservedTo } from '../observe/observation.ts';
import { hasFailed, phaseOf } from '../writes/stages.ts';
import { type Step, safetyWaitSeconds, setStatus } from './step.ts';
import { abandoned, ended, installationFailure, lostLock } from './transitions.ts';

export function install(observation: ObservedTo<'install'>): Step {
  const { ptx, lock, stage } = observation;
  const { status } = ptx;
  const fault = faultOf(ptx);
  if (ptx.isDeleting) return setStatus(abandoned(status), 'it is being deleted');
  if (fault !== undefined) return setStatus(ended(status, installationFailure(fault, true)), fault);
  if (!isAsResolved(ptx, lock)) return setStatus(lostLock(status), 'the Lock is not as it was');
  if (status.committed >= status.stages.length)
    return setStatus(advanced(status, { phase: afterStages(ptx) }), 'all stages are Committed');
  return stage === undefined ? create(observation) : follow(observation, stage);
}

/** A Replace has verified what it installs before its first deletion. */
function afterStages(ptx: PackageTransaction): 'Deleting' | 'Verifying' {
  return deletionOf(ptx) !== undefined || isForward(ptx.status) ? 'Deleting' : 'Verifying';
}

function create({ ptx: { status }, next, edited }: ObservedTo<'install'>): Step {
  const index = status.committed;
  if (edited !== undefined) return setStatus(abandoned(status, edited), edited);
  const failed = (message: string) => ended(status, installationFailure(message));
  if (status.made > index) return setStatus(failed('a stage was deleted while it was under way'), 'a stage is gone');
  if (next === undefined) return setStatus(status, 'nothing was read', 1);
  if (next.kind === 'lost') return setStatus(failed(next.message), next.message);
  return {
    kind: 'create',
    index,
    next,
    because: `stage ${index + 1} of ${status.stages.length} is made`,
    status: advanced(status, { made: index + 1 }),
    wait: safetyWaitSeconds,
    refused: ({ message }) => failed(message),
  };
}

function follow({ ptx, edited }: ObservedTo<'install'>, stage: JsonObject): Step {
  const { status } = ptx;
  const [index, phase] = [status.committed, phaseOf(stage)];
  const made = advanced(status, { made: index + 1 });
  if (phase === 'Committed')
    return setStatus(advanced(status, { made: index + 1, committed: index + 1 }), `stage ${index + 1} is Committed`);
  if (hasFailed(stage))
    return setStatus(
      edited === undefined ? ended(made, failedBy(stage, ptx)) : abandoned(made, edited),
      `stage ${index + 1} failed`,
    );
  return setStatus(status.made > index ? status : made, `stage ${index + 1} is ${phase}`, safetyWaitSeconds);
}

const longestWords = 2_000;

/** Why a stage failed, from its status: the change that it names, and the words of the engine. */
function failedBy(stage: JsonObject, ptx: PackageTransaction): Outcome {
  const items = listAt(stage, 'status', 'items');
  const index = items.findIndex((item) => at(item, 'error') !== undefined);
  const words = textAt(items[index], 'error', 'message') ?? textAt(stage, 'status', 'message');
  const message = foreign(words ?? 'no message', longestWords);
  const target = at(listAt(stage, 'spec', 'changes')[index], 'target');
  const [kind, name] = [textAt(target, 'kind') ?? 'an object', textAt(target, 'name') ?? ''];
  const isDeactivation = ptx.status.stages[ptx.status.committed]?.purpose === 'Deactivation';
  const deactivation = installationFailure(`Failed to deactivate ${kind} ${name}: ${message}`);
  if (deletionOf(ptx) !== undefined) return { ...deactivation, reason: 'DeletionFailed' };
  if (isDeactivation) return deactivation;
  if (kind !== 'CustomResourceDefinition') return installationFailure(`Failed to install ${kind} ${name}: ${message}`);
  return { ...installationFailure(`Failed to install CRD ${name}: ${message}`), reason: 'CRDInstallationFailed' };
}
