import type { StepReport } from '../../hooks/transactions/call.ts';

/**
 * Throws the error of a step: in tests an error of the engine must not pass as transient trouble, and a simulated death must end
 * the call.
 */
export function surface({ thrown }: StepReport): void {
  if (thrown !== undefined) throw thrown;
}
