// The history of each object, write by write, from the audit log: the state before and after each write, who wrote, and who held
// the lock.
import { type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { lockName } from '../../hooks/objects/reference.ts';
import type { Actor, AuditEvent } from '../faults/audit.ts';
import {
  allTargets,
  type Evidence,
  hasSucceeded,
  isBy,
  isWrite,
  type Target,
  targetsOf,
  transactionsOf,
} from '../faults/evidence.ts';
import { homeOf } from '../faults/story.ts';
import { type Leaves, leavesOf } from '../generated/oracle.ts';

export interface Written {
  readonly actor: Actor;
  readonly verb: string;
  /** The Transaction that wrote it; undefined for people. */
  readonly by: string | undefined;
  /** The Transaction that held the lock, as `namespace/name/uid`. */
  readonly holder: string | undefined;
  readonly isRestoring: boolean;
  readonly before: Leaves | undefined;
  readonly after: Leaves | undefined;
  /** Its position in the audit log. */
  readonly at: number;
}

export interface History {
  readonly target: Target;
  /** The writes that changed content. */
  readonly writes: readonly Written[];
}

/** Without the Deployment controller's own annotations. */
function contentLeaves(object: JsonObject | undefined): Leaves | undefined {
  if (object === undefined) return undefined;
  const leaves = [...leavesOf(object)].filter(([path]) => !path.startsWith('.metadata.annotations.deployment.kubernetes.io/'));
  return new Map(leaves.filter(([, value]) => value !== '{}'));
}

function sameLeaves(left: Leaves | undefined, right: Leaves | undefined): boolean {
  if (left === undefined || right === undefined) return left === right;
  return left.size === right.size && [...left].every(([path, value]) => right.get(path) === value);
}

export function historiesOf(evidence: Evidence): readonly History[] {
  return allTargets(evidence).map((target) => ({ target, writes: writesOf(evidence, target) }));
}

interface Standing {
  readonly holder: string | undefined;
  readonly state: Leaves | undefined;
}

function writesOf(evidence: Evidence, target: Target): readonly Written[] {
  const lock = lockName(target.reference);
  let holder: string | undefined;
  let state = contentLeaves(evidence.before.get(target.key));
  const writes: Written[] = [];
  for (const [at, event] of successfulWrites(evidence)) {
    if (event.resource === 'leases' && event.name === lock) holder = holderAfter(event);
    if (!isOf(event, target)) continue;
    const after = stateAfter(event);
    if (!sameLeaves(state, after)) writes.push({ ...writeOf(evidence, target, event, { holder, state }), after, at });
    state = after;
  }
  return writes;
}

function successfulWrites({ events }: Evidence): readonly (readonly [number, AuditEvent])[] {
  return [...events.entries()].filter(([, event]) => isWrite(event) && hasSucceeded(event));
}

function isOf({ key, resource }: AuditEvent, target: Target): boolean {
  return key === target.key && !resource.endsWith('/status');
}

function holderAfter({ verb, response }: AuditEvent): string | undefined {
  return verb === 'delete' ? undefined : textAt(response, 'spec', 'holderIdentity');
}

function stateAfter({ verb, response }: AuditEvent): Leaves | undefined {
  return verb === 'delete' ? undefined : contentLeaves(response);
}

function writeOf(
  evidence: Evidence,
  target: Target,
  event: AuditEvent,
  { holder, state }: Standing,
): Omit<Written, 'after' | 'at'> {
  const { actor, verb, fieldManager } = event;
  const by = actor === 'account' ? (writerOf(evidence, event) ?? nameOf(evidence, holder)) : undefined;
  const isUndoOfCreate = verb === 'delete' && by !== undefined && creates(evidence, by, target);
  return { actor, verb, by, holder, isRestoring: fieldManager.startsWith('janus-restore-') || isUndoOfCreate, before: state };
}

function writerOf(evidence: Evidence, event: AuditEvent): string | undefined {
  return transactionsOf(evidence).find((transaction) => isBy(evidence, transaction, event));
}

export function holderIdentity({ names, uids }: Evidence, transaction: string): string {
  const { namespace, name } = homeOf(names, transaction);
  return `${namespace}/${name}/${uids.get(transaction) ?? ''}`;
}

function nameOf(evidence: Evidence, holder: string | undefined): string | undefined {
  return transactionsOf(evidence).find((transaction) => holderIdentity(evidence, transaction) === holder);
}

function creates(evidence: Evidence, transaction: string, { key }: Target): boolean {
  return targetsOf(evidence, transaction).some((target) => target.key === key && target.type === 'Create');
}
