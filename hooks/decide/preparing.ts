// Preparing: what is, and what will be, is stored before the first change.
import type { Observation, View } from '../observe/observation.ts';
import { refuse } from './pending.ts';
import type { Step } from './step.ts';
import { prepared, stopped } from './transitions.ts';
import { become, waitOut } from './waiting.ts';

export function decidePrepare(observation: Observation, view: Extract<View, { kind: 'prepare' }>): Step {
  const { status, now } = observation;
  if (view.trouble !== undefined) return waitOut(status, 'reading and trying the changes', view.trouble);
  if (view.faults.length > 0) return refuse(observation, view.faults);
  if (view.leftovers.length > 0)
    return { kind: 'discard', configMaps: view.leftovers, because: 'parts of a snapshot that was never completed' };
  switch (view.adopted?.kind) {
    case 'stored':
      return become(prepared(status, view.adopted.ref), 'a snapshot of this Transaction was stored already');
    case 'trouble':
      return waitOut(status, 'reading the snapshot', view.adopted.failure);
    case 'broken':
      return become(
        stopped(status, { reason: 'SnapshotBroken', message: view.adopted.message }, now, new Map()),
        view.adopted.message,
      );
    case undefined:
      return {
        kind: 'store',
        targets: view.targets,
        name: view.snapshotName,
        because: 'every target was read and every change tried',
      };
  }
}
