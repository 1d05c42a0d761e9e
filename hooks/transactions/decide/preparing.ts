// Preparing: the engine stores the prior and the expected state of each target before the first change.
//
// I2. No target is written before its prior state is stored and the API server has acknowledged it.
import type { Observation, PrepareView } from '../observe/observation.ts';
import { refuse, troubled } from './pending.ts';
import type { Step } from './step.ts';
import { prepared } from './transitions.ts';
import { unlistableAtChecks } from './unlistable-kinds.ts';
import { setStatus } from './waiting.ts';
import { windowEnd } from './window.ts';

export function decidePrepare(observation: Observation, view: PrepareView): Step {
  const { status, transaction, pace } = observation;
  if (view.trouble !== undefined)
    return troubled(observation, status, 'reading the targets and dry-running the changes', view.trouble);
  if (view.faults.length > 0) return refuse(observation, view.faults);
  const unlistable = unlistableAtChecks(observation, view.targets);
  if ('kind' in unlistable) return unlistable;
  if (unlistable.length > 0) return refuse(observation, unlistable);
  if (view.incompleteParts.length > 0)
    return { kind: 'discard', configMaps: view.incompleteParts, because: 'an incomplete snapshot exists under this name' };
  // The API server has acknowledged the snapshot: only now may a target be written (I2).
  if (view.adopted !== undefined)
    return setStatus(
      prepared(status, view.adopted.ref, windowEnd(transaction, 0, pace)),
      'a snapshot of this Transaction is already stored',
    );
  return {
    kind: 'store',
    targets: view.targets,
    name: view.snapshotName,
    because: 'all targets were read and checked',
  };
}
