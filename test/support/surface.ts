import type { StepReport } from '../../hooks/call.ts';

/** Throws what a step met: in tests no fault of the engine is taken for trouble that passes, and who dies is dead. */
export function surface({ thrown }: StepReport): void {
  if (thrown !== undefined) throw thrown;
}
