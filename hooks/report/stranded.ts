// A step that threw: a fault of the engine, met by whatever a target, a snapshot or an answer holds. It is reported with its stack and
// counted, and the call is answered all the same.
import { type Agenda, agendaOf, type Stored } from '../agenda/agenda.ts';
import { refloat } from '../decide/stranded.ts';
import type { Observation } from '../observe/observation.ts';
import type { Result } from './answer.ts';
import type { Answered } from './report.ts';

type Taken = Answered & { readonly first: undefined; readonly result: Result };

type Of = Pick<Observation, 'engineNamespace' | 'server' | 'writer' | 'recollection' | 'pace'>;

/** What the call comes to after `thrown`. */
export function stranded(thrown: unknown, found: Omit<Stored, 'waits'>, of: Of): Taken {
  const { transaction, status, now, lateWindow } = found;
  const agenda = agendaFor({ ...found, waits: of.recollection.waits });
  const { status: next, resyncAfterSeconds, finalized } = refloat({ status, agenda, now });
  const known = { ...of, now, transaction, status, agenda, lateWindow };
  return {
    observation: { ...known, view: { kind: 'none' }, openDrift: () => undefined },
    step: { kind: 'become', status: next, because: 'a fault of the engine', resyncAfterSeconds },
    outcome: [],
    before: status,
    first: undefined,
    result: { kind: 'answer', status: next, resyncAfterSeconds, finalized },
    thrown,
  };
}

// It may be what threw.
function agendaFor(stored: Stored): Agenda {
  try {
    return agendaOf(stored);
  } catch {
    return stored.transaction.isBeingDeleted ? { due: 'settle' } : { due: 'rest', seconds: 0 };
  }
}
