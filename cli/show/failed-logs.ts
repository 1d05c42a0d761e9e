// The last lines of a failed container, for the end of a command. Pure.
import type { FailedLog } from '../../hooks/transactions/inspection.ts';
import type { ChangeView } from './view.ts';

export function logLines({ object, pod, container, text }: FailedLog): readonly string[] {
  const whose = object === `Pod ${pod}` ? `Pod ${pod}` : `Pod ${pod} of ${object}`;
  return lastLines(`container ${container} in ${whose}`, text.split('\n'));
}

/** What the engine has kept, without the changes in `known`: the command has read their logs itself. */
export function keptLogLines(changes: readonly ChangeView[], known: readonly number[] = []): readonly string[] {
  return changes.flatMap(({ kind, name, gate }, index) => {
    if (gate?.logs === undefined || known.includes(index)) return [];
    return lastLines(`the container of ${kind} ${name} that failed`, gate.logs);
  });
}

/** Under a heading that names the container. */
export function lastLines(container: string, lines: readonly string[]): readonly string[] {
  return [`Last lines of ${container}:`, ...lines.map((line) => `  ${line}`)];
}
