// Kinds that something outside the object provides for: a volume, an address, a served API.
import { at, isList, textAt } from '../../objects/json.ts';
import { conditionOf, conditionsOf, conditionWords, hasStatus, phaseWords, troubleWords } from './conditions.ts';
import { failed, notYet, ready, type Seen, unless, type Verdict } from './verdict.ts';

const selectedNode = 'volume.kubernetes.io/selected-node';

export function claim(seen: Seen): Verdict {
  const phase = textAt(seen.live, 'status', 'phase');
  if (phase === 'Bound') return ready(phaseWords(seen));
  // It may be that only a later change makes that Pod.
  if (phase === 'Pending' && waitsForPod(seen))
    return ready('phase is Pending: it waits for its first Pod (WaitForFirstConsumer)');
  return notYet(phaseWords(seen));
}

function waitsForPod({ live, storageClass }: Seen): boolean {
  const isChosen = at(live, 'metadata', 'annotations', selectedNode) !== undefined;
  return !isChosen && textAt(storageClass, 'volumeBindingMode') === 'WaitForFirstConsumer';
}

export function service({ live }: Seen): Verdict {
  if (textAt(live, 'spec', 'type') !== 'LoadBalancer') return ready('a Service of this type needs no provider');
  const ingress = at(live, 'status', 'loadBalancer', 'ingress');
  const isProvided = isList(ingress) && ingress.length > 0;
  return isProvided ? ready('status.loadBalancer.ingress is set') : notYet('status.loadBalancer.ingress is empty');
}

export function customResourceDefinition(seen: Seen): Verdict {
  const refused = conditionsOf(seen.live).find(
    (one) =>
      hasStatus(one, 'False') &&
      (textAt(one, 'type') === 'NamesAccepted' ||
        (textAt(one, 'type') === 'Established' && textAt(one, 'reason') !== 'Installing')),
  );
  if (refused !== undefined) return failed(troubleWords(seen, textAt(refused, 'type') ?? ''), refused);
  return unless(
    [untrue(seen, 'NamesAccepted'), untrue(seen, 'Established')],
    'conditions NamesAccepted and Established are True',
  );
}

export function apiService(seen: Seen): Verdict {
  return unless([untrue(seen, 'Available')], 'condition Available is True');
}

function untrue(seen: Seen, type: string): string | undefined {
  return hasStatus(conditionOf(seen.live, type), 'True') ? undefined : conditionWords(seen, type);
}

export function namespace(seen: Seen): Verdict {
  return unless([textAt(seen.live, 'status', 'phase') === 'Active' ? undefined : phaseWords(seen)], 'phase is Active');
}
