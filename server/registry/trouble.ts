// Failures of a registry. In this folder they are thrown as errors; outside they are values.
import type { RegistryFailed, RegistryFailure } from '../../hooks/crossplane/registry.ts';

export class Trouble extends Error {
  readonly failure: RegistryFailure;
  constructor(failure: RegistryFailure) {
    super(failure.message);
    this.failure = failure;
  }
}

export function invalid(message: string): Trouble {
  return new Trouble({ kind: 'invalid', message });
}

export function unavailable(message: string): Trouble {
  return new Trouble({ kind: 'unavailable', message });
}

/** The failure in an error. Any other error is a bug, and is thrown again. */
export function failedBy(error: unknown): RegistryFailed {
  if (error instanceof Trouble) return { kind: 'failed', failure: error.failure };
  throw error;
}
