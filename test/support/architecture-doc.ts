// The parts of docs/architecture.md that are generated from the code, as Markdown.
import { readdirSync } from 'node:fs';
import { mayFollow, type Phase, phases } from '../../hooks/transactions/model/phase.ts';

import { readSources, type Source } from './sources.ts';
import { units } from './stages.ts';
import { treeOf } from './tree.ts';

/** The generated texts, by the names of their parts. */
function generatedParts(): ReadonlyMap<string, string> {
  const sources = readSources('hooks');
  return new Map([
    ['tree', treeOf(folders())],
    ['stages', stageTable()],
    ['transitions', transitionDiagram()],
    ['invariants', invariantTable(sources)],
  ]);
}

/** Top-level folders of sources, and the folders in hooks/ and server/, two levels deep. */
function folders(): readonly string[] {
  const below = (folder: string): readonly string[] =>
    readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => `${folder}/${name}`)
      .toSorted();
  const deep = (folder: string): readonly string[] => [folder, ...below(folder).flatMap((one) => [one, ...below(one)])];
  return [...deep('hooks'), ...deep('server'), 'cli', 'schemas', 'manifests', 'test'];
}

function stageTable(): string {
  const rows = units.map(({ name, what, nature, sees }) => `| ${name} | ${what} | ${nature} | ${sees.join(', ')} |`);
  return ['| stage | what it holds | nature | may import |', '| --- | --- | --- | --- |', ...rows].join('\n');
}

function transitionDiagram(): string {
  const ways = phases.flatMap((from) => phases.filter((to) => mayFollow(from, to)).map((to) => `    ${from} --> ${to}`));
  const ends = phases.filter((phase) => isEnd(phase)).map((phase) => `    ${phase} --> [*]`);
  return ['```mermaid', 'stateDiagram-v2', '    [*] --> Pending', ...ways, ...ends, '```'].join('\n');
}

function isEnd(phase: Phase): boolean {
  return phase === 'Committed' || phase === 'RolledBack' || phase === 'Failed';
}

interface InvariantText {
  readonly number: number;
  readonly text: string;
  readonly path: string;
}

/** The numbered sentences in the headers of these sources. */
export function invariantsIn(sources: readonly Source[]): readonly InvariantText[] {
  const found = sources.flatMap(({ path, text }) => {
    const header = /^(\/\/[^\n]*\n)+/.exec(text)?.[0] ?? '';
    const plain = header.replaceAll(/^\/\/ ?/gm, '');
    return [...plain.matchAll(/^I(\d+)\. ([\s\S]*?)(?=^I\d+\. |^V1\. |^$|$(?![\s\S]))/gm)].map(
      ([, number = '', sentence = '']): InvariantText => ({
        number: Number(number),
        text: sentence.replaceAll(/\s+/g, ' ').trim(),
        path,
      }),
    );
  });
  return found.toSorted((left, right) => left.number - right.number);
}

function invariantTable(sources: readonly Source[]): string {
  const rows = invariantsIn(sources).map(({ number, text, path }) => `| I${number} | ${text} | \`${path}\` |`);
  return ['| | invariant | held by |', '| --- | --- | --- |', ...rows].join('\n');
}

/** The document with its generated parts, each between `<!-- name -->` and `<!-- end -->`. */
export function withGeneratedParts(document: string): string {
  return [...generatedParts()].reduce(
    (text, [name, part]) =>
      text.replace(
        new RegExp(`(<!-- ${name} -->\n)(?:[\\s\\S]*?\n)??(<!-- end -->)`),
        (_all, begin: string, end: string) => `${begin}${part}\n${end}`,
      ),
    document,
  );
}
