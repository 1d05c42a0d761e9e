import type { Plan } from '../../hooks/transactions/inspection.ts';
import type { Call } from '../command/command.ts';
import { note, sayAll } from '../io.ts';
import { planDocument, planLines } from '../show/plan.ts';
import { planMarkdown } from '../show/plan-markdown.ts';
import { clientVersion } from './client-version.ts';
import { showOutside } from './external-diff.ts';
import { outputStyle, rbacCommand, saidAsData } from './given.ts';
import { besideEngine, planOfGiven } from './planning.ts';

/** Exit codes of a plan. */
const codes = { nothing: 0, changes: 1, refused: 2, unknown: 3 } as const;

export async function run(call: Call): Promise<number> {
  const { io, options } = call;
  const made = await planOfGiven(call, options.flag('asMe') ? 'caller' : 'serviceAccount');
  const { plan, engine } = await besideEngine(await call.connect(), made.plan, options.text('engineNamespace'));
  if (/^\d/.test(engine) && engine !== clientVersion)
    note(io, `This program is version ${clientVersion}, the engine ${engine}: the engine may decide otherwise.`);
  const found = codeOf(plan, options.flag('strict'));
  const code = found === codes.changes && options.text('exitCode') === '0' ? codes.nothing : found;
  if (options.text('output') === 'markdown') sayAll(io, planMarkdown(plan, rbacCommand(call)));
  else if (!saidAsData(call, () => planDocument(plan))) await show(call, plan, { engine, code });
  return code;
}

async function show(call: Call, plan: Plan, shown: { readonly engine: string; readonly code: number }): Promise<void> {
  const { io, options } = call;
  const external = options.flag('summary') ? '' : (io.env.KUBECTL_EXTERNAL_DIFF ?? '');
  if (external !== '') await showOutside(io, external, plan.changes);
  const isBrief = external !== '' || options.flag('summary');
  sayAll(io, planLines(plan, { style: outputStyle(io, options), rbac: rbacCommand(call), ...shown, isBrief }));
}

/** The exit code of a plan. */
export function codeOf(plan: Plan, isStrict: boolean): number {
  if (plan.verdict === 'refused') return codes.refused;
  if (plan.verdict === 'unknown') return codes.unknown;
  if (isStrict && plan.changes.some(({ owners }) => owners.length > 0)) return codes.refused;
  return plan.changes.some(({ operation }) => operation !== 'none') ? codes.changes : codes.nothing;
}
