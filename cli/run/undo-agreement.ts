// Whether the user agrees to the plan of an undo, or of a rollback.
import type { Call } from '../command/command.ts';
import { sayAll } from '../io.ts';
import { exits } from '../problem.ts';
import { refusedCode } from '../show/end.ts';
import { planLines, type UndoPlan, undoLines, undoQuestion, verdictOf } from '../show/undo.ts';
import { confirmed, outputStyle } from './given.ts';
import { refuseOtherDigest, type Wish } from './undo-wish.ts';

interface Asking {
  readonly plan: UndoPlan;
  readonly wish: Wish;
  /** The beginning of the question, such as `Undo`. */
  readonly verb: string;
}

/** Shows the plan, and asks. Resolves with the exit code if nothing is to follow. Throws a Problem for another digest. */
export async function disagreement({ io, options }: Call, { plan, wish, verb }: Asking): Promise<number | undefined> {
  const setting = { style: outputStyle(io, options), program: io.program };
  if (['refused', 'unknown'].includes(verdictOf(plan))) {
    sayAll(io, undoLines(plan, { ...setting, code: refusedCode }));
    return refusedCode;
  }
  sayAll(io, planLines(plan, setting));
  refuseOtherDigest(wish, plan.answer);
  return (await confirmed(io, options, undoQuestion(verb, plan))) ? undefined : exits.notDone;
}
