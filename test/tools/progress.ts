// Progress of a long build in a terminal and in a log alike: one plain line every few seconds, with counts and the
// current step, so that no user takes it for hung.

export interface Progress {
  /** Starts a phase; `total` is how many packages it has, where that is known. */
  readonly begin: (phase: string, total?: number) => void;
  readonly step: (name: string) => void;
  readonly elapsed: () => string;
  readonly end: () => void;
}

export function openProgress(report: (line: string) => void, everyMs = 10_000): Progress {
  const started = performance.now();
  let phase = '';
  let total: number | undefined;
  let steps = 0;
  let last = '';
  const elapsed = (): string => inWords(performance.now() - started);
  const say = (): void =>
    report(`  ${elapsed()}  ${phase}: ${steps}${total === undefined ? '' : ` of ${total} packages`}${last && ` (${last})`}`);
  const timer = setInterval(say, everyMs);
  return {
    begin: (name, of) => {
      [phase, total, steps, last] = [name, of, 0, ''];
      report(`  ${elapsed()}  ${phase}${of === undefined ? '' : ` ${of} packages`}`);
    },
    step: (name) => {
      steps += 1;
      last = name;
    },
    elapsed,
    end: () => clearInterval(timer),
  };
}

function inWords(ms: number): string {
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)}m${String(seconds % 60).padStart(2, '0')}s`;
}
