// A call writes only to what was announced before it, also where another engine has gone on meanwhile.
import type { Step } from '../decide/step.ts';
import { become } from '../decide/waiting.ts';
import type { Carry } from '../observe/carry.ts';
import type { Observation } from '../observe/observation.ts';
import type { Outcome } from '../plan/mutation.ts';

interface Took {
  readonly observation: Observation;
  readonly outcome: Outcome;
}

/** What the next look must know of the writes of this one. */
export function touchedBy({ observation: { agenda }, outcome }: Took, { touched }: Carry): Pick<Carry, 'touched'> {
  const isTouched = outcome.some(({ write, answer }) => write.identity.kind === 'serviceAccount' && answer.kind === 'ok');
  const index = isTouched && 'index' in agenda ? agenda.index : touched;
  return index === undefined ? {} : { touched: index };
}

/** Another engine has stored a status while this call was writing: what comes next is for another call. */
export function elsewhere({ agenda, status }: Observation, { touched }: Carry, isOvertaken: boolean): Step | undefined {
  const isOther = touched !== undefined && 'index' in agenda && agenda.index !== touched;
  return isOther || isOvertaken ? become(status, 'this call has written to other objects already', 0.001) : undefined;
}
