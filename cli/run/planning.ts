// Makes a plan of the input, for all commands that need a plan.

import type { AccessQuestion } from '../../hooks/objects/cluster.ts';
import { type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { plan } from '../../hooks/transactions/inspect.ts';
import type { Plan } from '../../hooks/transactions/inspection.ts';
import { engineIn, usualEngineNamespace } from '../cluster/engine.ts';
import { contentsName, partsFor, realQuestion } from '../cluster/inspecting.ts';
import type { Session } from '../cluster/session.ts';
import { mustAnswer } from '../cluster/transactions.ts';
import type { Call } from '../command/command.ts';
import type { Manifest } from '../input/read.ts';
import { located, type Release, transactionIn, withContents } from '../input/release.ts';
import { manifestsOf } from './manifests.ts';
import { releaseOptionsOf } from './release-options.ts';

/** Exit codes of a plan. */
export const planCodes = { nothing: 0, changes: 1, refused: 2, unknown: 3 } as const;

export interface Planned {
  readonly plan: Plan;
  /** The Transaction as the user gave it. It may have no name. */
  readonly transaction: JsonObject;
}

/** `given`: the manifests that the command line names, if they are read. Throws a Problem. */
export async function planOfGiven(call: Call, actAs: 'serviceAccount' | 'caller', given?: readonly Manifest[]): Promise<Planned> {
  const { options } = call;
  const manifests = given ?? (await manifestsOf(call));
  const session = await call.connect();
  const release = transactionIn(manifests, await releaseOptionsOf(call, session, manifests));
  const wanted = { actAs, engineNamespace: options.text('engineNamespace') ?? usualEngineNamespace };
  return { plan: await planOf(session, release, wanted), transaction: release.transaction };
}

interface Placed {
  readonly plan: Plan;
  /** The version of the engine, or why it is unknown. */
  readonly engine: string;
}

/** Adds the version of the engine to a plan. If the command finds no engine, the plan lists the locks as not seen. */
export async function besideEngine(session: Session, plan: Plan, namespace: string | undefined): Promise<Placed> {
  const { version, absence } = await engineIn(session, namespace);
  if (absence === undefined || plan.locks.length > 0) return { plan, engine: version };
  return { plan: { ...plan, unseen: [...plan.unseen, `the locks: ${absence}`] }, engine: version };
}

interface Wanted {
  readonly actAs: 'serviceAccount' | 'caller';
  readonly engineNamespace: string;
}

/** Makes a plan of a release that the command has read. */
export async function planOf(session: Session, release: Release, wanted: Wanted): Promise<Plan> {
  await mustAnswer(session);
  const made = await planned(session, release, wanted);
  return { ...made, refusal: located(made.refusal, release), also: located(made.also, release) };
}

async function planned(session: Session, { transaction, contents }: Release, wanted: Wanted): Promise<Plan> {
  if (Object.keys(contents).length === 0) return plan(partsFor(session, wanted), transaction);
  const name = contentsName(transaction);
  const namespace = textAt(transaction, 'metadata', 'namespace') ?? '';
  const secret = { namespace, name, isGenerated: textAt(transaction, 'metadata', 'name') === undefined };
  const parts = partsFor(session, { ...wanted, contents: { ...secret, texts: contents } });
  const made = await plan(parts, withContents(transaction, name) satisfies JsonObject);
  const real = (question: AccessQuestion) => realQuestion(question, secret);
  const gaps = made.gaps.map((gap) => ({ ...gap, question: real(gap.question) }));
  return { ...made, needs: made.needs.map(real), gaps };
}
