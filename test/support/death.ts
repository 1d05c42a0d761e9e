// Engines that die at a write, and what else happens at a write.
import type { Cluster, Write } from '../../hooks/objects/cluster.ts';
import type { Stage } from './stage.ts';
import { stepToEnd } from './stepping.ts';

/** What an engine that dies throws. */
export class Death extends Error {}

export interface WritePoint {
  /** Which of the writes, counted from 1. */
  readonly write: number;
  readonly side: 'before' | 'after';
}

/** Writes by the name of their object, and by their verb if one is given. */
export function writesOf(name: string, verb?: Write['verb']): (write: Write) => boolean {
  return (write) => write.location.name === name && (verb === undefined || write.verb === verb);
}

/** Something happens at that point of these writes; `isLasting`: and at each later one. */
export function happening(
  isOne: (write: Write) => boolean,
  { write: which, side }: WritePoint,
  what: () => Promise<unknown>,
  isLasting = false,
): (cluster: Cluster) => Cluster {
  let count = 0;
  const arrive = async (at: WritePoint['side']): Promise<void> => {
    if (at === side && (count === which || (isLasting && count > which))) await what();
  };
  const send: (cluster: Cluster) => Cluster['send'] = (cluster) => async (write, isLate) => {
    count += 1;
    await arrive('before');
    const answer = await cluster.send(write, isLate);
    await arrive('after');
    return answer;
  };
  return (cluster) => ({
    ...cluster,
    send: (write, isLate) => (isOne(write) ? send(cluster) : cluster.send)(write, isLate),
  });
}

/** An engine that dies at that point of these writes. */
export function dying(isOne: (write: Write) => boolean, point: WritePoint): (cluster: Cluster) => Cluster {
  return happening(isOne, point, () => Promise.reject(new Death()), true);
}

/** Calls an engine until it dies. Rejects if the Transaction ends without that. */
export async function untilDeath(stage: Stage, name: string): Promise<void> {
  if (!(await untilDeathOrEnd(stage, name))) throw new Error(`${name} ended, and the engine did not die`);
}

/** Calls an engine until it dies, or the Transaction has ended. Resolves with whether it died. */
export async function untilDeathOrEnd(stage: Stage, name: string): Promise<boolean> {
  try {
    await stepToEnd(stage, name);
    return false;
  } catch (error) {
    if (error instanceof Death) return true;
    throw error;
  }
}
