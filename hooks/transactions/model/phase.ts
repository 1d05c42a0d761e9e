// The phases of a Transaction and the only ways between them.
//
// I7. Phases follow one another in these ways only, and a terminal phase is left only on request; status.version never falls
//     (outcome/status.ts).

export type Phase = 'Pending' | 'Preparing' | 'Prepared' | 'Committing' | 'Committed' | 'RollingBack' | 'RolledBack' | 'Failed';

const next: Readonly<Record<Phase, readonly Phase[]>> = {
  Pending: ['Preparing', 'Prepared', 'Failed'],
  Preparing: ['Prepared', 'Failed'],
  Prepared: ['Committing', 'Committed', 'RollingBack'],
  Committing: ['Committed', 'RollingBack'],
  Committed: ['RollingBack'],
  RollingBack: ['RolledBack', 'Failed'],
  RolledBack: [],
  Failed: ['RollingBack'],
};

export const phases = Object.keys(next) as readonly Phase[];

export function isPhase(text: string): text is Phase {
  return Object.hasOwn(next, text);
}

/** Whether a Transaction may go from one phase to the other (I7). */
export function mayFollow(from: Phase, to: Phase): boolean {
  return next[from].includes(to);
}

/** Whether changes may be made, or undone. */
export function isUnderWay(phase: Phase): boolean {
  return phase === 'Prepared' || phase === 'Committing' || phase === 'RollingBack';
}

/** Left only by an annotation that a user sets. */
export function isTerminal(phase: Phase): phase is 'Committed' | 'RolledBack' | 'Failed' {
  return phase === 'Committed' || phase === 'RolledBack' || phase === 'Failed';
}
