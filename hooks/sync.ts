// placeholder until the engine's pipeline lands in this file
import type { EngineParts, Hook } from './call.ts';

export function createSync(_parts: EngineParts): Hook {
  return async () => ({ kind: 'retry', retryAfterSeconds: 5 });
}
