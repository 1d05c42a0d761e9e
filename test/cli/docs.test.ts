// docs/cli.md against the commands: its list of them is made of their descriptions. `JANUS_WRITE_DOCS=1` writes it.
import { readFileSync, writeFileSync } from 'node:fs';
import t from 'tap';
import { type Command, optionsFor } from '../../cli/command/command.ts';
import { commands } from '../../cli/command/registry.ts';

const file = new URL('../../docs/cli.md', import.meta.url);
const shown = commands.filter(({ hidden }) => !hidden);
const common = ['--namespace', '--context', '--kubeconfig', '--request-timeout'];

function partOf(command: Command): string {
  const { name, operands = [], summary, description, examples = [] } = command;
  const options = optionsFor(command).filter(({ flags }) => !common.some((one) => flags.includes(`${one} `)));
  const rows = options.map(({ flags, description, choices, repeats }) => {
    const extras = [...(choices === undefined ? [] : [choices.join(', ')]), ...(repeats ? ['may be repeated'] : [])];
    return `| \`${flags}\` | ${[description, ...extras].join('; ')} |`;
  });
  return [
    `### janus ${[name, ...operands].join(' ')}`,
    `${summary[0]?.toUpperCase()}${summary.slice(1)}.${description === undefined ? '' : ` ${description.replaceAll(/\s+/g, ' ')}`}`,
    ...(rows.length === 0 ? [] : [['| option | |', '| --- | --- |', ...rows].join('\n')]),
    ...(examples.length === 0 ? [] : [['```sh', ...examples.map((line) => `janus ${line}`), '```'].join('\n')]),
  ].join('\n\n');
}

function withCommands(document: string): string {
  const part = shown.map(partOf).join('\n\n');
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
