// Sends writes and returns their answers. It decides nothing: it stops when the mutations require it.
import type { Answer, Failed, Writer } from '../cluster.ts';
import { deadlineExceeded } from '../failure.ts';
import type { Attempt, Mutation, Outcome, Writes } from '../mutation.ts';

export async function perform(writes: Writes, writer: Writer): Promise<Outcome> {
  switch (writes.kind) {
    case 'nothing':
      return [];
    case 'chain':
      return performChain(writes.mutation, writer);
    case 'parallel':
      return (await Promise.all(writes.mutations.map((mutation) => performChain(mutation, writer)))).flat();
    case 'sequence':
      return performSequence(writes.mutations, writer);
  }
}

async function performChain(first: Mutation, writer: Writer): Promise<Outcome> {
  const attempts: Attempt[] = [];
  let mutation: Mutation | undefined = first;
  while (mutation !== undefined) {
    const answer: Answer = await writer.send(mutation.write);
    attempts.push({ write: mutation.write, answer, ...(isSettled(mutation, answer) ? { isSettled: true } : {}) });
    mutation = following(mutation, answer);
  }
  return attempts;
}

function isSettled({ settledBy }: Mutation, answer: Answer): boolean {
  return answer.kind === 'failed' && settledBy?.includes(answer.failure.kind) === true;
}

function following(mutation: Mutation, answer: Answer): Mutation | undefined {
  if (answer.kind === 'ok') return mutation.next?.(answer.object);
  return answer.failure.kind === 'refused' ? mutation.otherwise?.() : undefined;
}

async function performSequence(mutations: readonly Mutation[], writer: Writer): Promise<Outcome> {
  const attempts: Attempt[] = [];
  for (const mutation of mutations) {
    attempts.push(...(await performChain(mutation, writer)));
    if (attempts.at(-1)?.answer.kind === 'failed' && attempts.at(-1)?.isSettled !== true) break;
  }
  return attempts;
}

export const outOfTime: Failed = { kind: 'failed', failure: deadlineExceeded('call deadline exceeded') };

/**
 * Once it is late, the writer sends nothing, and does not complete a write that it has begun. A request that is never sent cannot
 * take effect late.
 */
export function writerUntil(writer: Writer, isLate: () => boolean): Writer {
  return { send: async (write) => (isLate() ? outOfTime : writer.send(write, isLate)) };
}
