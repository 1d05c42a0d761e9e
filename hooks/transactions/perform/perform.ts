// Sends the writes of a plan and returns their answers. It decides nothing: it stops where the plan says so.
import type { Answer, Writer } from '../../objects/cluster.ts';
import type { Attempt, Outcome, Plan } from '../plan/mutation.ts';
import type { Mutation } from '../writes/mutation.ts';

export async function perform(plan: Plan, writer: Writer): Promise<Outcome> {
  switch (plan.kind) {
    case 'nothing':
    case 'refused':
      return [];
    case 'chain':
      return performChain(plan.mutation, writer);
    case 'parallel':
      return (await Promise.all(plan.mutations.map((mutation) => performChain(mutation, writer)))).flat();
    case 'sequence':
      return performSequence(plan.writes, writer);
  }
}

async function performChain(first: Mutation, writer: Writer): Promise<Outcome> {
  const attempts: Attempt[] = [];
  let mutation: Mutation | undefined = first;
  while (mutation !== undefined) {
    const answer: Answer = await writer.send(mutation.write);
    attempts.push({ write: mutation.write, answer });
    mutation = following(mutation, answer);
  }
  return attempts;
}

function following(mutation: Mutation, answer: Answer): Mutation | undefined {
  if (answer.kind === 'ok') return mutation.next?.(answer.object);
  return answer.failure.kind === 'refused' ? mutation.otherwise?.() : undefined;
}

async function performSequence(writes: readonly Attempt['write'][], writer: Writer): Promise<Outcome> {
  const attempts: Attempt[] = [];
  for (const write of writes) {
    const answer = await writer.send(write);
    attempts.push({ write, answer });
    if (answer.kind === 'failed') break;
  }
  return attempts;
}
