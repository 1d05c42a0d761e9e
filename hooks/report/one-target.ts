// A call writes to one target, also where another engine has gone on meanwhile.
import type { Step } from '../decide/step.ts';
import { become } from '../decide/waiting.ts';
import type { Carry } from '../observe/carry.ts';
import type { Observation } from '../observe/observation.ts';
import type { Outcome } from '../plan/mutation.ts';

/** What the next look must know of the writes of this one. */
export function touchedBy({ agenda }: Observation, outcome: Outcome, { touched }: Carry): Pick<Carry, 'touched'> {
  const isTouched = outcome.some(({ write, answer }) => write.identity.kind === 'serviceAccount' && answer.kind === 'ok');
  const index = isTouched && 'index' in agenda ? agenda.index : touched;
  return index === undefined ? {} : { touched: index };
}

/** Another engine has taken the next step while this call was at work on one: the one after it is for another call. */
export function elsewhere({ agenda, status }: Observation, { touched }: Carry): Step | undefined {
  if (touched === undefined || !('index' in agenda) || agenda.index === touched) return undefined;
  return become(status, 'this call has written to another object already', 0.001);
}
