import { randomBytes } from 'node:crypto';
import type { Plan } from '../../hooks/transactions/inspection.ts';
import type { Call } from '../command/command.ts';
import { dryRunOf } from '../input/package.ts';
import type { Manifest } from '../input/read.ts';
import { note, sayAll } from '../io.ts';
import { planDocument, planLines } from '../show/plan.ts';
import { planMarkdown } from '../show/plan-markdown.ts';
import { clientVersion } from './client-version.ts';
import { runDryRun } from './dry-run.ts';
import { showOutside } from './external-diff.ts';
import { outputStyle, rbacCommand, saidAsData } from './given.ts';
import { manifestsOf } from './manifests.ts';
import { besideEngine, planCodes, planOfGiven } from './planning.ts';
import { sizeOf } from './printer.ts';
import { rollbackOfGiven } from './requested-rollback.ts';
import { showPlanOfRollback } from './rollback.ts';

export async function run(call: Call): Promise<number> {
  const manifests = await manifestsOf(call);
  const wanted = dryRunOf(manifests, `plan-${randomBytes(5).toString('hex')}`);
  if (wanted !== undefined) return runDryRun(call, wanted);
  const rollback = await rollbackOfGiven(call, manifests);
  return rollback === undefined ? planChanges(call, manifests) : showPlanOfRollback(call, rollback, undefined);
}

async function planChanges(call: Call, manifests: readonly Manifest[]): Promise<number> {
  const { io, options } = call;
  const made = await planOfGiven(call, options.flag('asMe') ? 'caller' : 'serviceAccount', manifests);
  const { plan, engine } = await besideEngine(await call.connect(), made.plan, options.text('engineNamespace'));
  if (/^\d/.test(engine) && engine !== clientVersion)
    note(io, `This program is version ${clientVersion}, the engine ${engine}: the engine may decide otherwise.`);
  const found = codeOf(plan, options.flag('strict'));
  const code = found === planCodes.changes && options.text('exitCode') === '0' ? planCodes.nothing : found;
  if (options.text('output') === 'markdown') sayAll(io, planMarkdown(plan, rbacCommand(call)));
  else if (!saidAsData(call, () => planDocument(plan))) await show(call, plan, { engine, code });
  return code;
}

async function show(call: Call, plan: Plan, shown: { readonly engine: string; readonly code: number }): Promise<void> {
  const { io, options } = call;
  const external = options.flag('summary') ? '' : (io.env.KUBECTL_EXTERNAL_DIFF ?? '');
  if (external !== '') await showOutside(io, external, plan.changes);
  const isBrief = external !== '' || options.flag('summary');
  const setting = { style: outputStyle(io, options), rbac: rbacCommand(call), columns: sizeOf(io).columns };
  sayAll(io, planLines(plan, { ...setting, ...shown, isBrief }));
}

/** The exit code of a plan. */
export function codeOf(plan: Plan, isStrict: boolean): number {
  if (plan.verdict === 'refused') return planCodes.refused;
  if (plan.verdict === 'unknown') return planCodes.unknown;
  if (isStrict && plan.changes.some(({ owners, took }) => owners.length > 0 || took !== undefined)) return planCodes.refused;
  return plan.changes.some(({ operation }) => operation !== 'none') ? planCodes.changes : planCodes.nothing;
}
