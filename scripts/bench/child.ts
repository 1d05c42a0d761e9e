// The resources that a child process has used, as Linux reports them; undefined on other systems.
import type { ChildProcess } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

const ticksPerSecond = 100; // USER_HZ on every architecture that Node supports

export interface ChildMeter {
  /** The number of steps that it has logged. */
  steps(): number;
  /** Resolves when it has logged that many steps. */
  reached(steps: number): Promise<void>;
  /** Milliseconds of CPU since its start. */
  cpu(): number | undefined;
  /** MiB now. */
  memory(): number | undefined;
  /** The maximum of MiB since `resetPeak`. */
  peakMemory(): number | undefined;
  resetPeak(): void;
}

export function meterOf(child: ChildProcess): ChildMeter {
  const folder = `/proc/${child.pid}`;
  const isKnown = existsSync(`${folder}/stat`);
  let steps = 0;
  let rest = '';
  const waiting = new Map<() => void, number>();
  child.stdout?.on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    steps += lines.filter((line) => line.includes('"msg":"step"')).length;
    for (const [resolve, wanted] of waiting) if (steps >= wanted) resolve();
  });
  return {
    steps: () => steps,
    reached: (wanted) => new Promise((resolve) => waiting.set(resolve, wanted)),
    cpu: () => (isKnown ? cpuOf(readFileSync(`${folder}/stat`, 'utf8')) : undefined),
    memory: () => (isKnown ? Math.round(mebibytesOf('VmRSS', `${folder}/status`)) : undefined),
    peakMemory: () => (isKnown ? mebibytesOf('VmHWM', `${folder}/status`) : undefined),
    resetPeak: () => {
      if (isKnown) writeFileSync(`${folder}/clear_refs`, '5');
    },
  };
}

// The name is in parentheses, and may contain any character. User and system time are the 12th and 13th word after it.
function cpuOf(stat: string): number {
  const words = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return ((Number(words[11]) + Number(words[12])) * 1000) / ticksPerSecond;
}

function mebibytesOf(what: string, file: string): number {
  return Number(new RegExp(`^${what}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(file, 'utf8'))?.[1]) / 1024;
}
