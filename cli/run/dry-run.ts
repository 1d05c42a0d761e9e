// The plan of a package. A package transaction with `spec.dryRun` makes the plan in its status. The command waits for the plan, prints it,
// and deletes the package transaction. No Lock is held while people read.
import { setTimeout as sleep } from 'node:timers/promises';
import { at, type JsonObject, objectsAt, textAt } from '../../hooks/objects/json.ts';
import { getPackageTransaction, packageProblem } from '../cluster/package-transactions.ts';
import type { Session } from '../cluster/session.ts';
import { createDryRun, deleteDryRun } from '../cluster/writes.ts';
import type { Call } from '../command/command.ts';
import { type Io, note, refuseInterrupted, sayAll, unlessAborted } from '../io.ts';
import { exits, Problem, wrongUse } from '../problem.ts';
import { dryRunLines, dryRunMarkdown } from '../show/dry-run.ts';
import { outputStyle, saidAsData } from './given.ts';
import { planCodes } from './planning.ts';
import { forManifests } from './release-options.ts';

/** Options about Transactions. */
const foreign = [...forManifests, 'asMe', 'strict'];

/** Throws a Problem. */
export async function runDryRun(call: Call, wanted: JsonObject): Promise<number> {
  const { io, options, operands } = call;
  const given = foreign.find((name) => options.flag(name) || options.text(name) !== undefined);
  if (given !== undefined || operands.length > 0)
    throw wrongUse(
      'A package is planned without [app] and without options about Transactions: give -f, and -o if you want data.',
    );
  const session = await call.connect();
  const made = await created(call, session, wanted);
  try {
    const ended = await endOf(call, session, made);
    const code = codeOf(ended, options.text('exitCode') === '0');
    if (options.text('output') === 'markdown') sayAll(io, dryRunMarkdown(ended, code));
    else if (!saidAsData(call, () => ended)) sayAll(io, dryRunLines(ended, { style: outputStyle(io, options), code }));
    return code;
  } finally {
    if (!io.interrupted.aborted) await removed(call, session, made);
  }
}

async function created({ io }: Call, session: Session, wanted: JsonObject): Promise<JsonObject> {
  refuseInterrupted(io);
  const answer = await createDryRun(session, wanted);
  if (answer.kind === 'failed') throw packageProblem(answer, session, 'create');
  return answer.body;
}

async function removed({ io }: Call, session: Session, made: JsonObject): Promise<void> {
  const answer = await deleteDryRun(session, made);
  if (answer.kind === 'failed' && answer.failure.kind !== 'absent') note(io, `${leftOf(made)} (${answer.failure.reason})`);
}

function leftOf(made: JsonObject): string {
  const name = textAt(made, 'metadata', 'name');
  return `Package transaction ${name}, which changes nothing, is left: kubectl delete ptx ${name}.`;
}

/** ms between two reads. */
const interval = 300;
/** ms until the hook must have begun. Metacontroller takes half a minute to find a new kind. */
const patience = 60_000;

async function endOf({ io }: Call, session: Session, made: JsonObject): Promise<JsonObject> {
  const begun = performance.now();
  let said = '';
  for await (const found of states(io, session, made)) {
    const waits = conditionIn(found, 'Validated')?.message ?? '';
    if (conditionIn(found, 'Finished')?.status === 'True') return found;
    if (performance.now() - begun > patience) refuseUnbegun(found);
    if (waits !== said) note(io, waits);
    said = waits;
  }
  throw new Problem(leftOf(made), exits.interrupted);
}

/** Until Ctrl-C. */
async function* states({ interrupted }: Io, session: Session, made: JsonObject): AsyncGenerator<JsonObject> {
  const name = textAt(made, 'metadata', 'name') ?? '';
  while (!interrupted.aborted) {
    const found = await unlessAborted(getPackageTransaction(session, name), interrupted);
    if (found !== undefined) yield found;
    await unlessAborted(sleep(interval), interrupted);
  }
}

function refuseUnbegun(ptx: JsonObject): void {
  if (textAt(ptx, 'status', 'phase') !== undefined) return;
  const what = `Nothing has begun package transaction ${textAt(ptx, 'metadata', 'name')} for a minute`;
  throw new Problem(`${what}: check the hook, its JANUS_PACKAGES, and Metacontroller.`);
}

function conditionIn(object: JsonObject, type: string) {
  const found = objectsAt(object, 'status', 'conditions').find((one) => textAt(one, 'type') === type);
  return found === undefined ? undefined : { status: textAt(found, 'status'), message: textAt(found, 'message') };
}

function codeOf(ended: JsonObject, isQuiet: boolean): number {
  const outcome = at(ended, 'status', 'outcome');
  if (textAt(outcome, 'kind') === 'Succeeded') return changes(ended) && !isQuiet ? planCodes.changes : planCodes.nothing;
  const isRefused = textAt(outcome, 'step') === 'Validation' && textAt(outcome, 'reason') !== 'Unavailable';
  return isRefused ? planCodes.refused : planCodes.unknown;
}

function changes(ended: JsonObject): boolean {
  const plan = at(ended, 'status', 'plan');
  const isChange = (one: JsonObject): boolean => textAt(one, 'operation') !== 'None';
  return [...objectsAt(plan, 'packages'), ...objectsAt(plan, 'objects')].some(isChange);
}
