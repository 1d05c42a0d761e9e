// What is due although something threw, which is a fault of the engine: nothing may keep the deadline, a request or a deletion from
// acting. What these need is decided without whatever threw; everything else is tried again.
import type { Agenda } from '../agenda/agenda.ts';
import type { Status } from '../model/status.ts';
import { answered, begun, disowned, stopped } from './transitions.ts';
import { left } from './undo-transitions.ts';
import { backoff } from './waiting.ts';

export interface Stranded {
  readonly status: Status;
  readonly agenda: Agenda;
  readonly now: number;
}

/** How the call ends; as `Result`. */
export interface Refloated {
  readonly status: Status;
  readonly resyncAfterSeconds: number;
  readonly finalized: boolean;
}

/** ms for which an undo that strands is tried again before one change is left, so that those before it get their turn. */
const undoPatience = 60_000;

const what = 'internal error of the engine (its log says more)';

export function refloat({ status, agenda, now }: Stranded): Refloated {
  switch (agenda.due) {
    case 'settle':
      // What is left behind is swept.
      return { ...going(status), finalized: true };
    case 'disown':
      return going(disowned(status, agenda.index), 0.001);
    case 'stop':
      return going(stopped(status, agenda.cause, now, new Map()));
    case 'relock':
      return going(answered(status, agenda.request, noEffect(agenda.request)));
    case 'restore':
      return now > (status.rollbackStartedAt ?? now) + undoPatience
        ? going(left(status, agenda.index, now, { reason: 'EngineFault', message: what }))
        : again(status, now);
    default:
      return again(status, now);
  }
}

function going(status: Status, resyncAfterSeconds = 0): Refloated {
  return { status, resyncAfterSeconds, finalized: false };
}

function noEffect({ annotation, value }: { readonly annotation: string; readonly value: string }): string {
  return `${annotation}="${value}" has no effect: ${what}; set another value to try again`;
}

function again(status: Status, now: number): Refloated {
  return {
    ...going({ ...begun(status, now), message: `waiting: ${what}; it is tried again until spec.timeout` }),
    resyncAfterSeconds: backoff,
  };
}
