// Refusals with 404 and 409. They report that the object has changed, so the engine reads it again. If it has not changed, an
// admission webhook on the way to it has denied the write in these words. Quotas answer 409 if two writers meet, so the engine
// tries three times.
import type { Write } from '../../objects/cluster.ts';
import type { Failure } from '../../objects/failure.ts';
import type { Attempt, Outcome } from '../../objects/mutation.ts';
import type { Step } from '../decide/step.ts';
import type { Carry, Refused } from '../observe/carry.ts';
import type { Plan } from '../plan/plan.ts';
import type { PerformedStep } from './answer.ts';

// Fields that others own are no matter of the moment: once the object is read again and has not moved, they are in the way for good.
const enough = ({ conflicts }: Failure): number => (conflicts === undefined ? 3 : 1);

/** How often in a row a write of that change was refused so, at the version that it named. */
export function refusedOnce(
  { carry, outcome }: Pick<PerformedStep, 'carry' | 'outcome'>,
  index: number,
  failure: Failure,
): Pick<Carry, 'refused'> {
  const version = versionOf(outcome.at(-1)?.write);
  const { refused } = carry;
  const times = refused?.index === index && refused.version === version ? refused.times + 1 : 1;
  return { refused: { index, version, times, failure } };
}

/** Whether this refusal of that change is final. */
export function isFinal(refused: Refused | undefined, index: number): boolean {
  return refused?.index === index && refused.times >= enough(refused.failure);
}

/** The answer to a plan that begins with a write that was refused often enough: this refusal again, now as a final one. */
export function denied(plan: Plan, step: Step, refused: Refused | undefined): Outcome | undefined {
  if (refused === undefined || plan.kind !== 'chain' || refused.times < enough(refused.failure)) return undefined;
  if (!('index' in step) || step.index !== refused.index) return undefined;
  const { write } = plan.mutation;
  if (versionOf(write) !== refused.version) return undefined;
  const attempt: Attempt = { write, answer: { kind: 'failed', failure: { ...refused.failure, kind: 'refused' } } };
  return [attempt];
}

function versionOf(write: Write | undefined): string | undefined {
  if (write === undefined || write.verb === 'create' || write.precondition === 'absent') return undefined;
  return write.precondition.resourceVersion;
}
