// The last lines of a failed container, for the end of a command. Pure.
import type { FailedLog } from '../../hooks/transactions/inspection.ts';

export function logLines({ object, pod, container, text }: FailedLog): readonly string[] {
  const whose = object === `Pod ${pod}` ? `Pod ${pod}` : `Pod ${pod} of ${object}`;
  return [`Last lines of container ${container} in ${whose}:`, ...text.split('\n').map((line) => `  ${line}`)];
}
