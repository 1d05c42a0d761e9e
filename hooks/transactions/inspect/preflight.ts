// What the engine would find and do, by its own stages: the checks of begin, the locks, the dry runs of prepare, and the size of the
// snapshot. Nothing is masked here yet.

import type { AccessQuestion, Expressions, Manifests } from '../../objects/cluster.ts';
import type { JsonObject } from '../../objects/json.ts';
import type { Fault } from '../checks/fault.ts';
import { decide } from '../decide/decide.ts';
import type { Step } from '../decide/step.ts';
import { noWrites } from '../in-flight/in-flight.ts';
import type { Gap, PlanParts } from '../inspection.ts';
import { type Lock, lockOf } from '../locks/lease.ts';
import { emptyStatus } from '../model/status.ts';
import type { Transaction } from '../model/transaction.ts';
import { type Checks, type LockContext, noLocks, observeBegin, observeLocks } from '../observe/begin.ts';
import { emptyCarry } from '../observe/carry.ts';
import { encodedFor } from '../observe/encoding.ts';
import type { LockView, Observation, Observed, Prepared } from '../observe/observation.ts';
import { observePrepare } from '../observe/prepare.ts';
import { createSources } from '../observe/sources.ts';
import { plan as planned } from '../plan/plan.ts';
import { createCallReads } from '../reading/call-reads.ts';
import { type Tried, tryCreation } from './creation.ts';
import { type Later, later, untold } from './later.ts';
import { eyesOf, type RestrictedReader } from './restricted-reader.ts';
import { gapsOf, needsOfAll } from './rights.ts';

export interface Survey {
  readonly transaction: Transaction;
  /** The API server's clock, in ms. */
  readonly now: number;
  /** Of the first stage that finds something. */
  readonly refusal: readonly Fault[];
  readonly also: readonly Fault[];
  /** Why there is no verdict; with a refusal, why not all that is wrong is known. */
  readonly trouble?: string;
  /** The targets that could be tried, in the order of the changes. */
  readonly prepared: readonly Prepared[];
  readonly locks: LockView;
  readonly gaps: readonly Gap[];
  readonly needs: readonly AccessQuestion[];
  readonly unseen: readonly string[];
}

/** The result of one stage of the engine. */
interface Stage {
  readonly faults: readonly Fault[];
  readonly trouble?: string;
}

export async function survey(parts: PlanParts, object: JsonObject): Promise<Survey> {
  const eyes = eyesOf(parts.reader, parts.actAs);
  const tried = await tryCreation(eyes, parts.actAs, object);
  const untold =
    tried.trouble && `the API server did not say whether it takes the Transaction (${tried.trouble.reason}): try again`;
  const hindrance = untold ?? (await unableToAct(eyes, parts.actAs, tried.transaction));
  const found =
    hindrance === undefined
      ? await investigated(parts, eyes, tried)
      : { also: [], prepared: [], locks: noLocks, gaps: [], needs: [], refusal: tried.faults, trouble: hindrance };
  return { ...found, transaction: tried.transaction, now: eyes.now() ?? 0, unseen: eyes.unseen() };
}

type Found = Omit<Survey, 'transaction' | 'now' | 'unseen'>;

async function investigated(parts: PlanParts, eyes: RestrictedReader, tried: Tried): Promise<Found> {
  const context = contextOf(parts, eyes, tried.transaction);
  const { faults, trouble, prepared, locks } = await runStages(parts, eyes, context);
  const beyond: Later =
    faults.length === 0 ? { faults, prepared, ...(trouble === undefined ? {} : { trouble }) } : await later(context);
  const [refusal = [], ...rest] = [tried.faults, faults, beyond.faults].filter((some) => some.length > 0);
  const needs = await needsOfAll(context, beyond.prepared);
  return {
    ...{ refusal, also: without(rest.flat(), refusal), prepared: beyond.prepared, locks },
    needs: needs.map(({ question }) => question),
    gaps: await gapsOf(context, needs),
    ...(beyond.trouble === undefined ? {} : { trouble: beyond.trouble }),
  };
}

function without(faults: readonly Fault[], known: readonly Fault[]): readonly Fault[] {
  const key = ({ item, reason, message }: Fault): string => JSON.stringify([item, reason, message]);
  const seen = new Set(known.map(key));
  return [...new Map(faults.filter((one) => !seen.has(key(one))).map((one) => [key(one), one])).values()];
}

/** Ms. A call that is late is made again, a plan is not: so it waits for its turns. */
const longestTurn = 60_000;

function contextOf(parts: PlanParts, eyes: RestrictedReader, transaction: Transaction): LockContext {
  const { clock, engineNamespace } = parts;
  const expressions = expressionsOf(parts, eyes);
  const manifests: Manifests = {
    unpack: parts.manifests.unpack,
    parse: (bytes, requester) => parts.manifests.parse(bytes, requester, longestTurn),
  };
  return {
    reader: eyes.reader,
    callReads: createCallReads({ now: clock.monotonic, until: Number.POSITIVE_INFINITY, lists: new Map() }),
    sources: createSources(manifests, clock),
    carry: emptyCarry,
    isWaiting: false,
    now: () => eyes.now() ?? 0,
    ...(parts.actAs === 'caller' ? { requester: 'you' } : {}),
    ...{ transaction, engineNamespace, expressions, clock },
  };
}

function expressionsOf({ expressions }: PlanParts, eyes: RestrictedReader): Expressions {
  if (expressions !== undefined)
    return {
      compile: (text, requester) => expressions.compile(text, requester, longestTurn),
      evaluate: expressions.evaluate,
    };
  return {
    compile: async () => {
      eyes.miss('whether the expressions of gates can be evaluated');
      return {};
    },
    evaluate: async () => ({ kind: 'broken', message: '' }) as const,
  };
}

async function unableToAct(
  { reader }: RestrictedReader,
  actAs: PlanParts['actAs'],
  { namespace, serviceAccountName: name }: Transaction,
): Promise<string | undefined> {
  if (actAs === 'caller') return undefined;
  const question = { verb: 'impersonate', group: '', resource: 'serviceaccounts', namespace, name };
  const answer = await reader.allowed(question, { kind: 'engine' });
  if (answer.kind === 'failed')
    return `whether you may impersonate ServiceAccount ${namespace}/${name}: ${answer.failure.reason}`;
  if (answer.allowed) return undefined;
  return `you may not impersonate ServiceAccount ${namespace}/${name}: request impersonate on serviceaccounts "${name}", or plan as yourself with --as-me`;
}

interface Run extends Stage {
  readonly prepared: readonly Prepared[];
  readonly locks: LockView;
}

/** As the engine goes: up to the stage that finds something. */
async function runStages(parts: PlanParts, eyes: RestrictedReader, context: LockContext): Promise<Run> {
  const begun = await observeBegin(context);
  const wanted = begun.targets.map(lockOf);
  const locks = await observeLocks({ ...context, carry: { ...emptyCarry, heldNames: namesOf(wanted) } }, wanted);
  const view = { ...begun, locks };
  const first = stageOf(decide(observationOf(context, eyes, { kind: 'begin', ...view })), view);
  if (first.faults.length > 0 || first.trouble !== undefined) return { ...first, prepared: [], locks };
  const source = { ...context, packer: parts.sealer, cache: new Map() };
  const tried = await observePrepare(context, source);
  const observation = observationOf(context, eyes, { kind: 'prepare', ...tried });
  const step = decide(observation);
  const stored = planned(step, observation, { packer: parts.sealer, encoded: await encodedFor(step, observation, parts.sealer) });
  const second = stored.kind === 'refused' ? { faults: stored.faults } : stageOf(step, tried);
  return { ...second, prepared: tried.targets, locks };
}

function namesOf(locks: readonly Lock[]): ReadonlySet<string> {
  return new Set(locks.map(({ name }) => name));
}

// A lock of another Transaction is waited for, unless the spec says otherwise: that is no verdict against this one.
function stageOf(step: Step, { faults, trouble }: Checks): Stage {
  if (trouble !== undefined) return { faults: [], trouble: untold(trouble) };
  if (step.kind !== 'setStatus') return { faults: [] };
  const { phase, cause, message } = step.status;
  if (phase !== 'Failed') return { faults: [], trouble: message };
  return { faults: faults.length > 0 || cause === undefined ? faults : [cause] };
}

function observationOf({ transaction, engineNamespace }: LockContext, eyes: RestrictedReader, due: Observed): Observation {
  return {
    ...{ transaction, engineNamespace, due, now: eyes.now() ?? 0 },
    status: emptyStatus(transaction.changes.length),
    ...{ isOvertaken: false, server: 'plan', writer: 'plan/1', ownWrites: noWrites, waits: 0, lateWindow: 0, pace: 'all' },
  };
}
