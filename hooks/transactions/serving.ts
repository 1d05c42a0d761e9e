// What serves one call: the parts of the engine, and what this process and this call know.
import type { EngineParts, Timing } from './call.ts';
import type { Memory } from './memory.ts';
import type { Pace } from './model/status.ts';
import type { Room } from './observe/room.ts';
import type { Sources } from './observe/sources.ts';
import type { Session } from './perform/deadline.ts';
import type { Looks } from './reading/looks.ts';

export interface Serving {
  readonly parts: EngineParts;
  /** The name of this process in Leases. */
  readonly server: string;
  /** The name of this call as a writer. */
  readonly writer: string;
  readonly memory: Memory;
  readonly session: Session;
  readonly looks: Looks;
  readonly room: Room;
  readonly sources: Sources;
}

/** In ms: a request may be sent until the deadline of the call, and the API server works on it until its timeout. */
export function lateWindowOf({ stepDeadline, writeTimeout }: Timing): number {
  return stepDeadline + writeTimeout;
}

export function paceOf({ callBudget = 0 }: Timing): Pace {
  return callBudget > 0 ? 'all' : 'one';
}
