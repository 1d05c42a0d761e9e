// Finds exports that no other file imports, from the sources, like the rules of test/support/architecture.ts.
import { posix } from 'node:path';
import { codeOf, type Source } from './sources.ts';

interface Unused {
  readonly path: string;
  readonly name: string;
}

const declared = /^export (?:declare )?(?:async )?(?:function\*?|const|let|class|interface|type|enum) (\w+)/gm;
const listed = /^export (?:type )?\{([^}]*)\};?$/gm;
/** `import { a, type B as C } from './x.ts'`, and `const { a } = await import('./x.ts')`. */
const named = /(?:import\s+(?:type\s+)?|const\s+)\{([^}]*)\}\s*(?:from\s*|=\s*await import\()'(\.[^']*)'/g;
/** `import * as x from './x.ts'`, `import('./x.ts').Name`, `(await import('./x.ts')).name`: any export may be used. */
const whole = /\*\s+as\s+\w+\s+from\s+'(\.[^']*)'|(?:(?<!await )\b|\(await )import\('(\.[^']*)'\)/g;

/** Exports of `sources` that no other file among `users` names. Paths of both start at the root of the repository. */
export function unusedExports(sources: readonly Source[], users: readonly Source[]): readonly Unused[] {
  const used = new Set(users.flatMap(usesOf));
  return sources.flatMap((source) =>
    exportsOf(source)
      .filter((name) => !used.has(`${source.path} ${name}`) && !used.has(`${source.path} *`))
      .map((name) => ({ path: source.path, name })),
  );
}

function exportsOf(source: Source): readonly string[] {
  const code = codeOf(source);
  const names = [...code.matchAll(listed)].flatMap(([, list = '']) => namesIn(list, 'last'));
  return [...[...code.matchAll(declared)].map(([, name = '']) => name), ...names];
}

function usesOf({ path, text }: Source): readonly string[] {
  const file = (target: string) => posix.join(posix.dirname(path), target);
  return [
    ...[...text.matchAll(named)].flatMap(([, list = '', target = '']) =>
      namesIn(list, 'first').map((name) => `${file(target)} ${name}`),
    ),
    ...[...text.matchAll(whole)].map(([, star, dynamic]) => `${file(star ?? dynamic ?? '')} *`),
  ];
}

/** For `a, type B as C`: `a`, and `B` or `C`. */
function namesIn(list: string, which: 'first' | 'last'): readonly string[] {
  return list
    .split(',')
    .map((entry) => entry.trim().replace(/^type\s+(?=\w)/, ''))
    .filter((entry) => entry !== '')
    .map((entry) => entry.split(/\s+as\s+|\s*:\s*/).at(which === 'first' ? 0 : -1) ?? '');
}
