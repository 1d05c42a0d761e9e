// The step that is due although code of the engine threw, which is a fault of the engine. No fault may keep the deadline, a request
// or a deletion from acting. So the engine decides these without the part that threw, and tries everything else again.
import type { Due } from '../due.ts';
import type { Status } from '../model/status.ts';
import type { Wait } from '../model/wait.ts';
import { answered, begun, fieldsReleased, stopped } from './transitions.ts';
import { notRestored, undoing } from './undo-transitions.ts';

interface Interrupted {
  readonly status: Status;
  readonly due: Due;
  readonly now: number;
}

/** How the call ends; as `Result`. */
interface Recovered {
  readonly status: Status;
  readonly wait: Wait;
  readonly finalized: boolean;
}

/** ms for which an undo that strands is tried again before one change is left, so that those before it get their turn. */
const undoPatienceMs = 60_000;

const what = 'internal error of the engine (its log says more)';

export function recover({ status, due, now }: Interrupted): Recovered {
  switch (due.kind) {
    case 'cleanUp':
      // The sweep deletes the objects that are left behind.
      return { ...going(status), finalized: true };
    case 'releaseFields':
      return going(fieldsReleased(status, due.index), 'now');
    case 'fail':
      return going(stopped(status, due.cause, now, new Map()));
    case 'rollBack':
      return going(undoing(status, due.cause, now));
    case 'reacquire':
      return going(answered(status, due.request, noEffect(due.request)));
    case 'restore':
      return now > (status.rollbackStartedAt ?? now) + undoPatienceMs
        ? going(notRestored(status, due.index, now, { reason: 'EngineFault', message: what }))
        : again(status, now);
    default:
      return again(status, now);
  }
}

function going(status: Status, wait: Wait = 'none'): Recovered {
  return { status, wait, finalized: false };
}

function noEffect({ annotation, value }: { readonly annotation: string; readonly value: string }): string {
  return `${annotation}="${value}" has no effect: ${what}; set another value to try again`;
}

function again(status: Status, now: number): Recovered {
  return {
    ...going({ ...begun(status, now), message: `waiting: ${what}; retrying until spec.timeout` }),
    wait: 'backoff',
  };
}
