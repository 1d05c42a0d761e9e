// The versions that `npm run matrix` measures, and its report.
import { minors, patchOf } from '../../test/controlplane/versions.ts';

export interface Measured {
  /** With its patch. */
  readonly version: string;
  readonly passed: number;
  /** The path of each failed test, and its message. */
  readonly failures: readonly string[];
}

interface Plan {
  readonly versions: readonly string[];
  /** For `npm test`. */
  readonly rest: readonly string[];
}

/** Throws a sentence for an unknown version. */
export function planOf(args: readonly string[]): Plan {
  const isVersion = (arg: string): boolean => /^\d+(\.\d+)*$/.test(arg);
  const versions = args.filter(isVersion);
  for (const version of versions) patchOf(version);
  const byDefault = [minors[0], minors.at(-4), minors.at(-1)].filter((minor) => minor !== undefined);
  return { versions: versions.length > 0 ? versions : byDefault, rest: args.filter((arg) => !isVersion(arg)) };
}

/** The report as Markdown. Tests that fail on every version do not distinguish versions. */
export function tableOf(measured: readonly Measured[]): string {
  const names = measured.map(({ failures }) => failures.map(nameOf));
  const isEverywhere = (name: string): boolean => measured.length > 1 && names.every((one) => one.includes(name));
  const rows = measured.map(({ version, passed, failures }, index) => {
    const own = (names[index] ?? []).filter((name) => !isEverywhere(name));
    return `| ${version} | ${passed} | ${failures.length} | ${own.length === 0 ? 'nothing' : own.join('; ')} |\n`;
  });
  const everywhere = (names[0] ?? []).filter(isEverywhere);
  const note = everywhere.length === 0 ? '' : `\nFailed on each: ${everywhere.join('; ')}\n`;
  return `| Kubernetes | passed | failed | what differs |\n| --- | --- | --- | --- |\n${rows.join('')}${note}`;
}

function nameOf(failure: string): string {
  return (failure.split('\n')[0] ?? '').replaceAll('|', '\\|');
}
