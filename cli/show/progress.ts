// One change as one line: what was done with its object, one state, and why. Pure.
import { changeTypes } from '../../hooks/transactions/model/change.ts';
import { operationOf } from './operations.ts';
import type { Format } from './style.ts';
import type { ChangeView, TransactionView } from './view.ts';

/** What a reader must see comes first. */
export const ranks = { failed: 0, notReady: 1, running: 2, done: 3, waiting: 4 } as const;
type Rank = (typeof ranks)[keyof typeof ranks];

interface Sign {
  readonly sign: string;
  /** Without UTF-8. */
  readonly plain: string;
  readonly format: Format;
}

const signs = {
  failed: { sign: '✗', plain: 'x', format: 'red' },
  notReady: { sign: '⧗', plain: '*', format: 'yellow' },
  applying: { sign: '→', plain: '>', format: 'cyan' },
  ready: { sign: '✓', plain: '+', format: 'green' },
  undoing: { sign: '↶', plain: '<', format: 'yellow' },
  restored: { sign: '↺', plain: '~', format: 'yellow' },
  kept: { sign: '=', plain: '=', format: 'yellow' },
  waiting: { sign: '·', plain: '.', format: 'dim' },
} as const satisfies Readonly<Record<string, Sign>>;

export interface Progress {
  readonly rank: Rank;
  readonly sign: Sign;
  /** `created`, `deleted again`. */
  readonly operation: string;
  readonly state: string;
  /** Why it is in this state, in the words of the engine. */
  readonly detail?: string;
}

/** What is to be done: by the types of changes. */
const planned: ReadonlyMap<string, string> = new Map(changeTypes.map((type) => [type, type.toLowerCase()]));

/** What the change has done with its object. */
function doneOf(change: ChangeView): string {
  return change.isRecreated ? 'recreated' : operationOf(change);
}

/** Whether the undo deletes the object. */
function isDeletedAgain(change: ChangeView): boolean {
  return doneOf(change) === 'created';
}

const nothingToUndo = 'nothing to undo';

/** Whether the content of the object stays: such objects share one line. */
export function isQuiet({ operation }: Pick<Progress, 'operation'>): boolean {
  return operation === 'unchanged' || operation === nothingToUndo;
}

/** What the undo has done with its object. */
function undoneOf(change: ChangeView): string {
  if (!change.isUndone || change.isUnchanged) return nothingToUndo;
  return isDeletedAgain(change) ? 'deleted again' : 'restored';
}

export function progressOf(change: ChangeView, { phase }: Pick<TransactionView, 'phase'>): Progress {
  return (progresses.get(change.state) ?? waiting)(change, phase === 'RollingBack');
}

type Rule = (change: ChangeView, isUndoing: boolean) => Progress;

const waiting: Rule = ({ type, state }) => ({
  rank: ranks.waiting,
  sign: signs.waiting,
  operation: planned.get(type) ?? type,
  state: ['Waiting', 'Prepared'].includes(state) ? 'waiting' : state,
});

/** By the states in docs/reference.md. */
const progresses: ReadonlyMap<string, Rule> = new Map(
  Object.entries<Rule>({
    Applying: ({ type }) => ({
      ...{ rank: ranks.running, sign: signs.applying },
      ...{ operation: planned.get(type) ?? type, state: 'applying' },
    }),
    Applied: (change, isUndoing) => (isUndoing ? toUndo(change) : appliedOf(change)),
    Failed: (change) => failed(change, 'not applied'),
    Restoring: (change) => {
      const running = { rank: ranks.running, sign: signs.undoing, operation: doneOf(change), state: 'undoing' };
      return { ...running, ...(change.error === undefined ? {} : { rank: ranks.failed }), ...detailOf(change) };
    },
    Restored: (change) => {
      const operation = undoneOf(change);
      if (change.error !== undefined) return failed(change, operation);
      return { rank: ranks.done, sign: signs.restored, operation, state: 'as before' };
    },
    NotRestored: (change) => ({ ...failed(change, doneOf(change)), state: 'not restored' }),
    Kept: (change) => ({
      ...{ rank: ranks.done, sign: signs.kept, operation: doneOf(change), state: 'kept' },
      ...remarkOf(change),
    }),
    Skipped: () => ({ rank: ranks.waiting, sign: signs.waiting, operation: 'not applied', state: 'as before' }),
  }),
);

function failed(change: ChangeView, operation: string): Progress {
  return { rank: ranks.failed, sign: signs.failed, operation, state: 'failed', ...detailOf(change) };
}

function toUndo(change: ChangeView): Progress {
  const operation = doneOf(change);
  if (change.error !== undefined) return failed(change, operation);
  const isHeldUp = change.remark !== undefined;
  return {
    ...{ rank: isHeldUp ? ranks.notReady : ranks.waiting, sign: isHeldUp ? signs.notReady : signs.waiting },
    ...{ operation, state: 'to be undone', ...remarkOf(change) },
  };
}

function appliedOf(change: ChangeView): Progress {
  const operation = doneOf(change);
  const { state, found } = change.gate ?? {};
  switch (state) {
    case undefined:
      return { rank: ranks.done, sign: signs.ready, operation, state: 'applied' };
    case 'ready':
      return { rank: ranks.done, sign: signs.ready, operation, state: 'ready' };
    case 'unopened':
      return { rank: ranks.done, sign: signs.notReady, operation, state: 'not checked yet' };
    case 'stabilizing':
      return { rank: ranks.notReady, sign: signs.notReady, operation, state: 'ready, not yet for long enough' };
    case 'notReady':
      return {
        ...{ rank: ranks.notReady, sign: signs.notReady, operation, state: 'not ready' },
        ...(found === undefined ? {} : { detail: found }),
      };
  }
}

/** What the last poll of its gate found is short; the message of the error has the whole cause. */
function detailOf({ error, gate, remark }: ChangeView): { readonly detail?: string } {
  if (error === undefined) return remark === undefined ? {} : { detail: remark };
  return { detail: `${error.reason}: ${gate?.state === 'notReady' && gate.found !== undefined ? gate.found : error.message}` };
}

function remarkOf({ remark }: ChangeView): { readonly detail?: string } {
  return remark === undefined ? {} : { detail: remark };
}

/** How many changes are applied, or undone, and how many of those with a gate are ready. */
interface Counts {
  readonly all: number;
  readonly applied: number;
  readonly undone: number;
  readonly gated: number;
  readonly ready: number;
  /** Objects that are as before the Transaction. */
  readonly before: number;
  readonly deletedAgain: number;
}

export function countsOf({ changes }: Pick<TransactionView, 'changes'>): Counts {
  const count = (isCounted: (change: ChangeView) => boolean): number => changes.filter(isCounted).length;
  return {
    all: changes.length,
    applied: count(({ state }) => state === 'Applied'),
    undone: count(({ state }) => ['Restored', 'Skipped', 'Failed'].includes(state)),
    gated: count(({ gate }) => gate !== undefined),
    ready: count(({ state, gate }) => state === 'Applied' && gate?.state === 'ready'),
    before: count(isAsBefore),
    deletedAgain: count((change) => change.state === 'Restored' && change.isUndone && isDeletedAgain(change)),
  };
}

// The engine has changed nothing in an object that was deleted before its change. But others have.
function isAsBefore({ state, error }: ChangeView): boolean {
  if (state === 'Failed') return error?.reason !== 'Gone' && error?.reason !== 'Replaced';
  return !['Applied', 'Applying', 'Restoring', 'NotRestored', 'Kept'].includes(state);
}
