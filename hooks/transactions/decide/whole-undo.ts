// The engine decides a requested undo as a whole before its first write.
//
// U1. If a change is blocked, the engine writes nothing, and the phase does not move: status.undo says who or what blocks it.
// U2. The status that begins RollingBack follows from the last decision, made with all locks held.
// U3. If the engine cannot read an object or try its undo, it neither undoes the change nor gives up: the undo waits for a minute, at
// most for spec.timeout. Then the engine refuses the request.

import { createHash } from 'node:crypto';
import { foreign, storedSize } from '../../objects/words.ts';
import type { UndoChoices } from '../checks/undo-choices.ts';
import { type Display, displayOf } from '../model/display.ts';
import type { Status } from '../model/status.ts';
import type { Transaction } from '../model/transaction.ts';
import {
  amountOf,
  type Request,
  sealedStates,
  type UndoAnswer,
  type UndoCounts,
  type UndoFinding,
  type UndoItem,
  type UndoItemVerdict,
  type UndoReason,
  undoLimits,
} from '../model/undo.ts';
import { count } from './wording.ts';

/** The result for each change. */
export interface UndoDecision {
  readonly items: readonly UndoItem[];
  readonly counts: UndoCounts;
  readonly digest: string;
  /** Indexes of changes that are left, each with the reason. */
  readonly kept: ReadonlyMap<number, string>;
  readonly overwritten: ReadonlySet<number>;
  readonly sealed: NonNullable<UndoAnswer['sealed']>;
}

interface Decided {
  readonly status: Status;
  readonly transaction: Transaction;
  readonly findings: readonly UndoFinding[];
  readonly choices: Pick<UndoChoices, 'keep' | 'overwrite'>;
  /** By the index of a change that the undo must keep, too, or cannot undo either: the index of the change that needs it. */
  readonly neededBy: Readonly<Record<'kept' | 'blocked', ReadonlyMap<number, number>>>;
}

const longestTarget = 256;

export function decideWhole({ status, transaction, findings, choices, neededBy }: Decided): UndoDecision {
  const { items: shown } = displayOf(status, transaction, longestTarget);
  const items = findings.map((finding) => itemOf(finding, { choices, neededBy, shown }));
  const states = findings.map(({ state }, at) => [items[at]?.index, items[at]?.verdict, state]);
  return {
    items,
    counts: countsOf(items),
    digest: createHash('sha256').update(JSON.stringify(states)).digest('hex'),
    kept: new Map(items.flatMap(({ index, verdict, message }) => (verdict === 'Keep' ? [[index, message ?? ''] as const] : []))),
    sealed: sealedOf(findings),
    overwritten: new Set([...choices.overwrite].filter((index) => items.some((item) => item.index === index))),
  };
}

function sealedOf(findings: readonly UndoFinding[]): UndoDecision['sealed'] {
  const indexes = (state: UndoFinding['sealed']) => findings.filter(({ sealed }) => sealed === state).map(({ index }) => index);
  return Object.fromEntries(sealedStates.map((state) => [state, indexes(state)] as const).filter(([, some]) => some.length > 0));
}

interface Around extends Pick<Decided, 'choices' | 'neededBy'> {
  readonly shown: Display['items'];
}

function itemOf(finding: UndoFinding, { choices, neededBy, shown }: Around): UndoItem {
  const { index } = finding;
  const target = shown[index]?.target ?? `spec.changes[${index}]`;
  if (choices.keep.has(index)) return { index, target, verdict: 'Keep', message: 'kept on request' };
  const by = neededBy.kept.get(index) ?? neededBy.blocked.get(index);
  if (by === undefined || finding.verdict === 'Nothing') return { target, ...shownOf(finding) };
  const message = `${shown[by]?.target ?? `spec.changes[${by}]`} stays and needs it`;
  const verdict = neededBy.kept.has(index) ? 'Keep' : 'Blocked';
  return { index, target, verdict, reason: 'NeededByKept', message };
}

// Its object may be packed: it is not touched.
function shownOf({ index, verdict, reason, message, fields, moreFields }: UndoFinding): Omit<UndoItem, 'target'> {
  return {
    ...{ index, verdict },
    ...(reason === undefined ? {} : { reason }),
    ...(message === undefined ? {} : { message }),
    ...(fields === undefined ? {} : { fields }),
    ...(moreFields === undefined ? {} : { moreFields }),
  };
}

function countsOf(items: readonly UndoItem[]): UndoCounts {
  const groups = Map.groupBy(items, ({ verdict }) => verdict.toLowerCase() as Lowercase<UndoItemVerdict>);
  return Object.fromEntries([...groups].map(([name, some]) => [name, some.length]));
}

/** What the undo does, in one sentence part: `deletes 14 objects, changes 3 back, keeps 1`. */
function deeds(decision: UndoDecision): string {
  const gone = decision.items.filter(isLeftGone).length;
  const parts: readonly (readonly [UndoItemVerdict, (amount: number) => string])[] = [
    ['Delete', (amount) => `deletes ${count(amount, 'object')}`],
    ['Recreate', (amount) => `creates ${count(amount, 'object')} again`],
    ['Restore', (amount) => `changes ${count(amount, 'object')} back`],
    ['Nothing', (amount) => nothingFor(amount - gone, gone)],
    ['Keep', (amount) => `keeps ${count(amount, 'change')}`],
    ['Blocked', (amount) => `cannot undo ${count(amount, 'change')}`],
    ['Undecided', (amount) => `cannot read ${count(amount, 'object')}`],
  ];
  const said = parts.map(([verdict, say]) => [amountOf(decision.counts, verdict), say] as const).filter(([amount]) => amount > 0);
  return said.length === 0 ? 'has nothing to do' : said.map(([amount, say]) => say(amount)).join(', ');
}

/** Whether somebody deleted the object, and the undo does not create it again. */
function isLeftGone({ verdict, reason }: UndoItem): boolean {
  return verdict === 'Nothing' && reason === 'Gone';
}

function nothingFor(unchanged: number, gone: number): string {
  const parts = [
    ...(unchanged === 0 ? [] : [`has nothing to do for ${count(unchanged, 'change')}`]),
    ...(gone === 0 ? [] : [`leaves ${count(gone, 'object')} deleted that somebody deleted`]),
  ];
  return parts.join(', ');
}

const nextForRefused =
  'undo the later Transaction first, keep objects (tx.janus.io/undo-keep), overwrite them (tx.janus.io/undo-overwrite), or undo the rest (tx.janus.io/undo-partial); then set another value to try again';

const whys = {
  Planned: () => 'the undo',
  UndoRefused: () => 'the undo was refused, and nothing was written: it',
  PlanChanged: () =>
    `the undo was refused, and nothing was written: it is not the one of the plan that tx.janus.io/undo-digest names; make a new plan; the undo`,
} as const satisfies Readonly<Record<UndoReason, () => string>>;

export function answerOf(decision: UndoDecision, request: Request, reason: UndoReason): UndoAnswer {
  const first = decision.items.find(({ verdict }) => verdict === 'Blocked' || verdict === 'Undecided');
  const why = first?.message === undefined ? '' : `; ${first.target}: ${first.message}`;
  const next = reason === 'UndoRefused' ? `; ${nextForRefused}` : '';
  const summary = `${whys[reason]()} ${deeds(decision)}`;
  const message = `${foreign(`${summary}${why}`, undoLimits.message - next.length)}${next}`;
  const { items, counts, digest } = decision;
  const sealed = reason === 'Planned' && Object.keys(decision.sealed).length > 0 ? { sealed: decision.sealed } : {};
  return fitted({ request, reason, message, digest, counts, items: [], ...sealed }, listed(items));
}

const order: readonly UndoItemVerdict[] = ['Blocked', 'Undecided', 'Delete', 'Recreate', 'Restore', 'Keep', 'Nothing'];

function listed(items: readonly UndoItem[]): readonly UndoItem[] {
  return order.flatMap((verdict) => items.filter((item) => item.verdict === verdict));
}

/** As many items as fit, each with its fields or, if they do not fit, without. */
function fitted(answer: UndoAnswer, items: readonly UndoItem[]): UndoAnswer {
  let room = undoLimits.bytes - storedSize(answer) - 100;
  const taken: UndoItem[] = [];
  for (const item of items.slice(0, undoLimits.items)) {
    const fitting = [item, withoutFields(item)].find((one) => storedSize(one) < room);
    if (fitting === undefined) break;
    room -= storedSize(fitting) + 1;
    taken.push(fitting);
  }
  const more = items.length - taken.length;
  return { ...answer, items: taken, ...(more > 0 ? { moreItems: more } : {}) };
}

function withoutFields({ fields, moreFields = 0, ...item }: UndoItem): UndoItem {
  return fields === undefined ? item : { ...item, moreFields: fields.length + moreFields };
}
