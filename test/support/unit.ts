// A unit of hooks/: a stage, or what stages share.

export interface Unit {
  readonly name: string;
  /** What it holds, for docs/architecture.md. */
  readonly what: string;
  readonly holds: (path: string) => boolean;
  /** Units to its left that it may import. It may always import itself. */
  readonly sees: readonly string[];
  /** `pure`: a function of its arguments. `types`: only declarations. `effects`: may use the port. */
  readonly nature: 'pure' | 'types' | 'effects';
}

export function folder(name: string): (path: string) => boolean {
  return (path) => path.startsWith(`${name}/`);
}

export function file(name: string): (path: string) => boolean {
  return (path) => path === name;
}

/** What every stage of the saga may import. */
export const values = ['objects', 'cluster', 'model'];
