// Reads every target before anything is changed, and makes a dry run of every change as the ServiceAccount.

import { generatedNote } from '../../objects/content/manifest.ts';
import { stayingKeysNote } from '../../objects/content/ownership.ts';
import { inTurn } from '../../objects/requests/in-turn.ts';
import { fault } from '../checks/fault.ts';
import { gapFaults, needsOfWays } from '../checks/permissions.ts';
import { unusedTakeOver } from '../checks/take-over.ts';
import { type Resolved, targetFaults } from '../checks/targets.ts';
import { joined } from '../hazards/messages.ts';
import { managersOfChange, type Transaction } from '../model/transaction.ts';
import { snapshotNames } from '../snapshots/names.ts';
import { type StateSize, stateSize, whyTooLarge } from '../snapshots/size.ts';
import { serviceAccountOf } from '../writes/resources.ts';
import { reviewAccess } from './access.ts';
import { readAutoscalers } from './autoscalers.ts';
import { type Checks, type LockContext, resolveTargets } from './begin.ts';
import { type DryRunContext, type Evaluated, prepareOne, readingOnce } from './dry-run.ts';
import { deletedOwnerFaults } from './given-owners.ts';
import { irreversibleFaults } from './irreversible.ts';
import type { Prepared, PrepareView } from './observation.ts';
import { takenRights } from './own-rights.ts';
import { type Found, findSnapshot } from './own-snapshots.ts';
import type { SnapshotSource } from './snapshot.ts';

/** Targets that are read and tried at once. */
const atOnce = 8;

export async function observePrepare(context: LockContext, source: SnapshotSource): Promise<PrepareView> {
  const names = snapshotNames(context.transaction, source.packer);
  const { snapshotNameInUse } = context.carry;
  // With one key there is one name: creating the snapshot shows whether it is in use. An earlier try may have used another key.
  const searched = snapshotNameInUse !== undefined || names.length > 1 ? names : [];
  const found = await Promise.all(searched.map((name) => findSnapshot(source, context.transaction, name, snapshotNameInUse)));
  return foundUnder(found, names[0]) ?? { ...(await prepareTargets(context)), snapshotName: names[0] };
}

function foundUnder(found: readonly Found[], name: string): PrepareView | undefined {
  const base = { faults: [], targets: [], incompleteParts: [], snapshotName: name } as const;
  const trouble = found.find((one) => one.kind === 'trouble');
  if (trouble !== undefined) return { ...base, trouble: trouble.failure };
  const adopted = found.find((one) => one.kind === 'stored');
  if (adopted !== undefined) return { ...base, adopted };
  // Incomplete parts under other names block nothing; the engine deletes them with the Transaction.
  const [incompleteParts = []] = found.map((one) => (one.kind === 'none' ? one.incompleteParts : []));
  return incompleteParts.length === 0 ? undefined : { ...base, incompleteParts };
}

const base = { targets: [], incompleteParts: [], snapshotName: '' } as const;

function ended({ faults, trouble }: Checks): PrepareView {
  return { ...base, faults, ...(trouble === undefined ? {} : { trouble }) };
}

// The engine stores the content that it tries here, and reads no source again. In a call after that of the checks, a source may
// hold other content. Then the engine repeats all checks of this content.
async function prepareTargets(context: LockContext): Promise<PrepareView> {
  const { reader, sources, engineNamespace } = context;
  const uncomposed = uncomposedOf(context.composition);
  if (uncomposed !== undefined) return ended(uncomposed);
  const filled = await sources.fill(reader, context.transaction);
  sources.drop();
  if (filled.trouble !== undefined || filled.faults.length > 0) return ended(filled);
  const { transaction } = filled;
  const targets = await resolveTargets(reader, transaction);
  if (targets.trouble !== undefined || targets.faults.length > 0) return ended(targets);
  const wrong = transaction === context.transaction ? [] : targetFaults(targets.resolved, transaction, engineNamespace);
  return wrong.length > 0 ? ended({ faults: wrong }) : tryTargets({ ...context, transaction }, targets.resolved);
}

/** Of a rollback: why it is not composed under its locks. */
function uncomposedOf(composition: LockContext['composition']): Checks | undefined {
  if (composition?.waiting !== undefined) return { faults: [fault('Terminating', composition.waiting)] };
  return composition?.objects !== undefined && composition.faults.length === 0 ? undefined : composition;
}

/**
 * The targets with their dry runs and their faults. The engine tries each target on its own, whatever faults other targets have.
 */
export async function tryTargets(context: LockContext, resolved: readonly Resolved[]): Promise<PrepareView> {
  const { reader, transaction } = context;
  const autoscaling = readAutoscalers(reader, serviceAccountOf(transaction), resolved);
  const composed = context.composition?.objects;
  const trial = readingOnce({ reader, callReads: context.callReads, transaction, all: resolved, autoscaling, composed });
  const outcome = await prepareEach(trial, resolved);
  if (outcome.kind === 'tooLarge') return ended({ faults: [fault('SnapshotTooLarge', `${outcome.why}: split the Transaction`)] });
  const { verdict } = outcome;
  const troubled = verdict.find((one) => one.kind === 'trouble');
  if (troubled !== undefined) return { ...base, faults: [], trouble: troubled.failure };
  const prepared = verdict.flatMap((one) => (one.kind === 'prepared' ? [one.prepared] : []));
  const access = await reviewAccess(context, needsOfWays(prepared));
  if (access.kind === 'trouble') return { ...base, faults: [], trouble: access.failure };
  const denied = gapFaults(
    access.gaps,
    context.requester ?? `ServiceAccount ${transaction.namespace}/${transaction.serviceAccountName}`,
  );
  const taken = await takenRights(context, prepared);
  if (taken.kind === 'trouble') return { ...base, faults: [], trouble: taken.failure };
  const refused = verdict.flatMap((one) => (one.kind === 'fault' ? [one.fault] : []));
  const targets = prepared.map((one) => withNotesOfContent(one, transaction));
  const unused = refused.length > 0 ? [] : unusedTakeOver(prepared, transaction);
  const faults = [
    ...refused,
    ...unused,
    ...denied,
    ...irreversibleFaults(taken.targets),
    ...deletedOwnerFaults(prepared, transaction),
  ];
  return { ...base, faults, targets };
}

type PreparedEach =
  | { readonly kind: 'prepared'; readonly verdict: readonly Evaluated[] }
  | { readonly kind: 'tooLarge'; readonly why: string };

// Targets that would be too large together are not all read; nor tried, if that shows before.
async function prepareEach(trial: DryRunContext, resolved: readonly Resolved[]): Promise<PreparedEach> {
  const sizes = new Map<number, StateSize>();
  const whyFull = (): string | undefined => whyTooLarge([...sizes.values()], resolved.length);
  const found = await inTurn(
    resolved,
    async (one) => {
      if (whyFull() !== undefined) return undefined;
      const { index, target } = one;
      const before = await trial.firstRead(one);
      if (before.kind === 'present') sizes.set(index, stateSize(target, [before.object]));
      if (whyFull() !== undefined) return undefined;
      const verdict = await prepareOne(trial, one);
      if (verdict.kind === 'prepared') sizes.set(index, stateSize(target, [verdict.prepared.prior, verdict.prepared.expected]));
      return verdict;
    },
    atOnce,
  );
  const why = whyFull();
  return why === undefined ? { kind: 'prepared', verdict: found.filter((one) => one !== undefined) } : { kind: 'tooLarge', why };
}

function withNotesOfContent(prepared: Prepared, transaction: Transaction): Prepared {
  const { change, resource } = prepared.resolved;
  if (change.type !== 'Apply') return prepared;
  const { forward } = managersOfChange(transaction, change);
  const note = joined(
    prepared.note,
    generatedNote(change.content, resource),
    stayingKeysNote(change.content, prepared.prior, forward),
  );
  return note === undefined ? prepared : { ...prepared, note };
}
