// docs/cli.md against the commands: its list of them is made of their descriptions. `JANUS_WRITE_DOCS=1` writes it.
import { readFileSync, writeFileSync } from 'node:fs';
import t from 'tap';
import { type Command, followedExits, optionsFor } from '../../cli/command/command.ts';
import { commands } from '../../cli/command/registry.ts';

const file = new URL('../../docs/cli.md', import.meta.url);
const shown = commands.filter(({ hidden }) => !hidden);
const common = ['--namespace', '--context', '--kubeconfig', '--request-timeout'];

interface Row {
  readonly name: string;
  readonly text: string;
}

function rowsOf(command: Command): readonly Row[] {
  const options = optionsFor(command).filter(({ flags }) => !common.some((one) => flags.includes(`${one} `)));
  return options.map(({ flags, description, choices, repeats }) => {
    const extras = [...(choices === undefined ? [] : [choices.join(', ')]), ...(repeats ? ['may be repeated'] : [])];
    return {
      name: /--[a-z-]+/.exec(flags)?.[0] ?? flags,
      text: `| \`${flags}\` | ${[description, ...extras].join('; ')} |`,
    };
  });
}

/** Rows that several commands have are listed once, after all commands. */
const every = shown.flatMap(rowsOf).map(({ text }) => text);
const shared = [...new Set(every.filter((text, index) => every.indexOf(text) !== index))];

const tableOf = (rows: readonly string[]): string => ['| option | effect |', '| --- | --- |', ...rows].join('\n');

function partOf(command: Command): string {
  const { name, operands = [], summary, description, examples = [] } = command;
  const rows = rowsOf(command);
  const own = rows.filter(({ text }) => !shared.includes(text)).map(({ text }) => text);
  const others = rows.filter(({ text }) => shared.includes(text)).map((row) => `\`${row.name}\``);
  return [
    `### janus ${[name, ...operands].join(' ')}`,
    `${summary[0]?.toUpperCase()}${summary.slice(1)}.${description === undefined ? '' : ` ${description.replaceAll(/\s+/g, ' ')}`}${exitsOf(command)}`,
    ...(own.length === 0 ? [] : [tableOf(own)]),
    ...(others.length === 0 ? [] : [`[Shared options](#shared-options): ${others.join(', ')}.`]),
    ...(examples.length === 0 ? [] : [['```sh', ...examples.map((line) => `janus ${line}`), '```'].join('\n')]),
  ].join('\n\n');
}

/** The table of the page has those of commands that follow a Transaction. */
function exitsOf({ exits }: Command): string {
  if (exits === undefined || exits === followedExits) return '';
  return ` Exit codes: ${Object.entries(exits)
    .map(([code, meaning]) => `${code} ${meaning}`)
    .join(', ')}.`;
}

function withCommands(document: string): string {
  const part = [...shown.map(partOf), '### Shared options', tableOf(shared)].join('\n\n');
  return document.replace(
    /(<!-- commands -->\n)[\s\S]*?(<!-- end -->)/,
    (_all, begin: string, end: string) => `${begin}\n${part}\n\n${end}`,
  );
}

/** The formatter aligns tables. */
function plain(markdown: string): string {
  return markdown.replaceAll(/-{3,}/g, '---').replaceAll(/[ \n]+/g, ' ');
}

t.test('docs/cli.md has every command with its options', async (t) => {
  const document = readFileSync(file, 'utf8');
  if (process.env.JANUS_WRITE_DOCS === '1') writeFileSync(file, withCommands(document));
  const written = readFileSync(file, 'utf8');
  t.equal(plain(written), plain(withCommands(written)), 'JANUS_WRITE_DOCS=1 node test/cli/docs.test.ts writes it');
  for (const { name } of shown) t.match(written, new RegExp(`^### janus ${name}\\b`, 'm'));
});
