// The parts of a Transaction that the command line shows. Any version of the engine may have written the object.
import type { Warnings } from '../../hooks/objects/cluster.ts';
import { at, type Json, type JsonObject, listAt, textAt } from '../../hooks/objects/json.ts';
import { groupOf } from '../../hooks/objects/reference.ts';
import { parseTime } from '../../hooks/objects/time.ts';
import { foreign } from '../../hooks/objects/words.ts';
import { type Gating, gateOf } from '../../hooks/transactions/model/gated.ts';
import { type Counted, countedIn } from '../../hooks/transactions/model/item.ts';
import { rollbackIn, rollbackSetIn } from '../../hooks/transactions/model/rollback.ts';
import { changesIn } from '../../hooks/transactions/model/transaction.ts';
import { decodeUndo, type UndoAnswer } from '../../hooks/transactions/model/undo.ts';
import { type Timing, timingOf } from './timing.ts';

export interface ChangeView {
  readonly type: string;
  readonly kind: string;
  /** With its namespace if the Transaction is in another namespace. */
  readonly name: string;
  /** The name of the object for `janus undo --keep`. */
  readonly selector: string;
  /** A state in docs/reference.md, "Changes". */
  readonly state: string;
  /** Why the engine could not apply or undo the change. */
  readonly error?: { readonly reason: string; readonly message: string };
  /** The state of its gate, if it has one. */
  readonly gate?: GateView;
  /** Whether the change has created its object. */
  readonly isMade: boolean;
  /** Whether the change has deleted its object, to create it again. */
  readonly isRecreated: boolean;
  /** Whether the change is applied, and has changed no field of the content. */
  readonly isUnchanged: boolean;
  /** Whether the undo has made a write for the change. */
  readonly isUndone: boolean;
  /** What its undo waits for, or a note of the engine about it. */
  readonly remark?: string;
  /** The fields that it took from other field managers. */
  readonly took?: Counted;
  /** Of the API server, about its write, or about the write of its undo. */
  readonly warnings?: Warnings;
}

interface GateView {
  /** `unopened`: the engine does not wait for it yet. */
  readonly state: 'unopened' | 'notReady' | 'stabilizing' | 'ready';
  /** The cause in its Pod if the engine knows one, else what the last poll found; undefined before the first poll. */
  readonly found?: string;
  /** What the container that failed printed last, if the engine has kept it. */
  readonly logs?: readonly string[];
}

export interface TransactionView {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly phase: string;
  /** `3/5`. */
  readonly done: string;
  readonly message: string;
  /** Whether the phase is terminal and the locks are released. */
  readonly finished: boolean;
  /** Changes that could not be undone. */
  readonly left: number;
  /** Changes that an undo left on request. */
  readonly kept: number;
  /** The reason of the condition Succeeded. */
  readonly reason: string;
  /** Why it is not, or will not be, Committed. */
  readonly cause: string;
  readonly timing: Timing;
  /** ms since the epoch. */
  readonly createdAt: number | undefined;
  readonly startTime: number | undefined;
  readonly endedAt: number | undefined;
  readonly changes: readonly ChangeView[];
  /** All annotations, with those of requests. */
  readonly requested: Readonly<Record<string, string>>;
  /** Values of request annotations that have taken effect. */
  readonly handled: Readonly<Record<string, string>>;
  readonly deleting: boolean;
  /** The answer to a request for a plan of the undo, or why the engine refused an undo. */
  readonly undo?: UndoAnswer;
  /** Of a rollback. */
  readonly rollback?: RollbackView;
}

export interface RollbackView {
  /** The name of the Transaction that stays; empty for the state before the first. */
  readonly to: string;
  /** The Transactions that it undoes, the newest first; none until the engine has found them. */
  readonly undone: readonly { readonly name: string; readonly uid: string }[];
}

const longestText = 2_000;

export function viewOf(object: JsonObject): TransactionView {
  const status = at(object, 'status');
  const text = (...path: readonly string[]): string => foreign(textAt(status, ...path) ?? '', longestText);
  const own = (key: string): string => foreign(textAt(object, 'metadata', key) ?? '', longestText);
  const namespace = own('namespace');
  const items = listAt(status, 'items');
  const gating = gatingOf(object);
  const counted = (flag: string): number => items.filter((item) => at(item, flag) === true).length;
  return {
    namespace,
    name: own('name'),
    uid: own('uid'),
    phase: text('phase') || 'Pending',
    done: text('progress'),
    message: text('message') || 'created, waiting for the engine',
    finished: conditionIn(status, 'Finished', 'status') === 'True',
    left: counted('left'),
    kept: counted('kept'),
    reason: foreign(conditionIn(status, 'Succeeded', 'reason') ?? '', longestText),
    cause: causeIn(status),
    timing: timingOf(object, gating),
    createdAt: parseTime(textAt(object, 'metadata', 'creationTimestamp')),
    startTime: parseTime(textAt(status, 'startTime')),
    endedAt: parseTime(textAt(status, 'completionTime')),
    changes: writtenChanges(object).map((change, index) => ({
      ...changeOf(change, items[index], { namespace, phase: text('phase') }),
      ...gateViewOf(items[index], gating, index),
    })),
    requested: textsIn(at(object, 'metadata', 'annotations')),
    handled: textsIn(at(status, 'handledAnnotations')),
    deleting: textAt(object, 'metadata', 'deletionTimestamp') !== undefined,
    ...decodeUndo(at(status, 'undo')),
    ...rollbackViewOf(object),
  };
}

function rollbackViewOf(object: JsonObject): Pick<TransactionView, 'rollback'> {
  const { rollback } = rollbackIn(at(object, 'spec') ?? {});
  if (rollback === undefined) return {};
  const { undone = [] } = rollbackSetIn(at(object, 'status', 'rollback')) ?? {};
  const short = (name: string): string => foreign(name, longestText);
  return { rollback: { to: short(rollback.to), undone: undone.map(({ name, uid }) => ({ name: short(name), uid })) } };
}

type Seen = Pick<TransactionView, 'namespace' | 'phase'>;

// A refusal that had no room for its items has none (hooks/transactions/outcome/bare.ts): no change of it was applied.
function changeOf(change: Json, item: Json | undefined, { namespace: own, phase }: Seen): ChangeView {
  const unlisted = phase === 'Failed' ? 'Skipped' : 'Waiting';
  const named = targetIn(change);
  const short = (text: string | undefined): string => foreign(text ?? '', longestText);
  const [type, reason] = [textAt(change, 'type'), textAt(item, 'error', 'reason')];
  const remark = textAt(item, 'waiting') ?? textAt(item, 'note');
  const elsewhere = named.namespace !== undefined && named.namespace !== own;
  return {
    type: short(type),
    kind: short(named.kind),
    name: short(elsewhere ? `${named.namespace}/${named.name}` : named.name),
    selector: short(selectorOf(named, own)),
    state: short(textAt(item, 'state')) || unlisted,
    ...(reason === undefined ? {} : { error: { reason: short(reason), message: short(textAt(item, 'error', 'message')) } }),
    isMade: type !== 'Delete' && textAt(item, 'uid') !== undefined,
    isRecreated: at(item, 'deleted') === true,
    isUnchanged: at(item, 'unchanged') === true,
    isUndone: at(item, 'undone') === true,
    ...(remark === undefined ? {} : { remark: short(remark) }),
    ...countedIn(item, 'warnings'),
    ...countedIn(item, 'took'),
  };
}

/** The changes as they are written; those of a rollback as the engine has found them. */
export function writtenChanges(object: JsonObject): readonly Json[] {
  if (at(object, 'spec', 'rollback') === undefined) return listAt(object, 'spec', 'changes');
  return listAt(object, 'status', 'rollback', 'objects').map((target) => ({ type: textAt(target, 'way') ?? '', target }));
}

function gatingOf(object: JsonObject): Gating {
  const gate = at(object, 'spec', 'gate');
  return { changes: changesIn(object), ...(gate === undefined ? {} : { gate }) };
}

function gateViewOf(item: Json | undefined, gating: Gating, index: number): { readonly gate?: GateView } {
  const [gate, state] = [gateOf(gating, index), at(item, 'gate')];
  if (state === undefined) return gate === undefined ? {} : { gate: { state: 'unopened' } };
  // Without a Pod, `pod.found` says why Pods are not known.
  const cause = textAt(state, 'pod', 'uid') === undefined ? undefined : textAt(state, 'pod', 'found');
  const [found, logs] = [cause ?? textAt(state, 'found'), textAt(state, 'logs')];
  return {
    gate: {
      state: gateStateOf(state, gate?.stableFor ?? 0),
      ...(found === undefined ? {} : { found: foreign(found, longestText) }),
      ...(logs === undefined ? {} : { logs: logs.split('\n').map((line) => foreign(line, longestText)) }),
    },
  };
}

// At the end, the engine polls a gate again that has passed: until then it has neither `readySince` nor `found`.
function gateStateOf(state: Json, stableFor: number): GateView['state'] {
  const hasPassed = at(state, 'passed') === true;
  if (textAt(state, 'readySince') === undefined) return hasPassed && textAt(state, 'found') === undefined ? 'ready' : 'notReady';
  return hasPassed || stableFor === 0 ? 'ready' : 'stabilizing';
}

function causeIn(status: Json | undefined): string {
  const message =
    conditionIn(status, 'Succeeded', 'status') === 'False' ? conditionIn(status, 'Succeeded', 'message') : undefined;
  return foreign(message ?? '', longestText);
}

/** `Deployment.apps/web`, `ConfigMap/shared/settings`. */
function selectorOf({ apiVersion, kind, namespace, name }: Target, own: string): string {
  const group = groupOf(apiVersion);
  const place = namespace === undefined || namespace === own ? '' : `${namespace}/`;
  return `${kind}${group === '' ? '' : `.${group}`}/${place}${name}`;
}

export interface Target {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace: string | undefined;
}

/** The target of a change. An Apply without a target changes the object that its content names. */
export function targetIn(change: Json): Target {
  const target = at(change, 'target');
  const [type, name] = target === undefined ? [at(change, 'content'), at(change, 'content', 'metadata')] : [target, target];
  return {
    apiVersion: textAt(type, 'apiVersion') ?? '',
    kind: textAt(type, 'kind') ?? '',
    name: textAt(name, 'name') ?? '',
    namespace: textAt(name, 'namespace'),
  };
}

function conditionIn(status: Json | undefined, type: string, key: string): string | undefined {
  return textAt(
    listAt(status, 'conditions').find((condition) => textAt(condition, 'type') === type),
    key,
  );
}

function textsIn(value: Json | undefined): Readonly<Record<string, string>> {
  const entries = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  return Object.fromEntries(entries.flatMap(([key, one]) => (typeof one === 'string' ? [[key, one]] : [])));
}
