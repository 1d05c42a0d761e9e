// Pod and Job.
import { at, isList, isObject, type JsonObject, textAt } from '../../objects/json.ts';
import { foreign } from '../../objects/words.ts';
import {
  conditionOf,
  conditionsOf,
  conditionWords,
  hasStatus,
  phaseWords,
  reasonAt,
  troubleWords,
  withReason,
} from './conditions.ts';
import { numberAt, share } from './counts.ts';
import { failed, notYet, ready, type Seen, type Verdict } from './verdict.ts';

export function pod(seen: Seen): Verdict {
  const phase = textAt(seen.live, 'status', 'phase');
  if (phase === 'Succeeded') return ready(phaseWords(seen));
  if (phase === 'Failed') return failed(withReason(phaseWords(seen), reasonAt(seen.live, 'status', 'reason')));
  if (phase === 'Running' && hasStatus(conditionOf(seen.live, 'Ready'), 'True')) return ready(conditionWords(seen, 'Ready'));
  return notYet(held(seen) ?? (phase === 'Running' ? conditionWords(seen, 'Ready') : phaseWords(seen)));
}

/** Why it does not run: no node, or a container that waits. Neither is final. */
function held(seen: Seen): string | undefined {
  if (hasStatus(conditionOf(seen.live, 'PodScheduled'), 'False')) return conditionWords(seen, 'PodScheduled');
  const waiting = ['initContainerStatuses', 'containerStatuses']
    .flatMap((name) => listAt(seen.live, name))
    .find((one) => !isStarting(reasonAt(one, 'state', 'waiting', 'reason')));
  if (waiting === undefined) return undefined;
  const name = seen.sealed ? 'a container' : `container ${foreign(textAt(waiting, 'name') ?? '', 63)}`;
  return withReason(`${name} waits`, reasonAt(waiting, 'state', 'waiting', 'reason'));
}

const listAt = (object: JsonObject, name: string): readonly JsonObject[] => {
  const found = at(object, 'status', name);
  return isList(found) ? found.filter(isObject) : [];
};

/** Every container waits for these reasons once, or for none. */
const isStarting = (reason: string | undefined): boolean =>
  reason === undefined || reason === 'ContainerCreating' || reason === 'PodInitializing';

export function job(seen: Seen): Verdict {
  const ended = conditionsOf(seen.live).find(
    (one) => hasStatus(one, 'True') && (textAt(one, 'type') === 'Complete' || textAt(one, 'type') === 'Failed'),
  );
  if (textAt(ended, 'type') === 'Complete') return ready('condition Complete is True');
  if (ended !== undefined) return failed(troubleWords(seen, 'Failed'), ended);
  if (at(seen.live, 'spec', 'suspend') === true) return notYet('it is suspended');
  if (textAt(seen.live, 'status', 'startTime') === undefined) return notYet('it has not started');
  // A work queue has no completions: it is complete once one Pod has succeeded and none runs.
  const wanted = numberAt(seen, 'spec.completions', 1);
  return notYet(`it runs: ${share(seen, numberAt(seen, 'status.succeeded'), wanted, 'Pods have succeeded')}`);
}
