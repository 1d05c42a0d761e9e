// Types the blocks of the documents: names the page and the lines of what ended otherwise, or printed something else than the page shows.
import type { Test } from 'tap';
import { type } from './kubectl.ts';
import { type Block, blocksFor, missingIn, unwrapped } from './pages.ts';
import { openPty } from './pty.ts';

/** The folder that a block is typed in, and the variables. */
export interface Place {
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  /** Replaces what differs in each run, such as a port. */
  readonly as?: (commands: string) => string;
  /** Typed at a terminal, for a command that asks. */
  readonly answer?: string;
}

/** A terminal as wide as the screens of the pages. */
const size = { columns: 110, rows: 40 };

async function atTerminal(t: Test, commands: string, { folder, env, answer }: Place) {
  const pty = openPty(t, { ...size, folder, env: { LANG: 'C.UTF-8', HOME: folder, ...env }, words: ['bash', '-euc', commands] });
  if (answer !== undefined) pty.type(answer);
  const code = await pty.finished;
  return { code, output: pty.lines().join('\n') };
}

interface Typed {
  readonly output: string;
  /** What is wrong with the page; undefined if the page is right. */
  readonly fault?: string;
}

/** Types a block, and compares its exit code and its output with those of the page. */
export async function typed(
  t: Test,
  { document, commands, exits, output: shown, isScreen }: Block,
  place: Place,
): Promise<Typed> {
  const as = place.as ?? ((text) => text);
  const text = as(commands.map((command) => command.text).join('\n'));
  const { code, output } =
    isScreen || place.answer !== undefined ? await atTerminal(t, text, place) : await type(text, place.folder, place.env);
  const plain = isScreen ? unwrapped : (screen: string) => screen;
  const missing = shown === undefined ? undefined : missingIn(plain(output), plain(shown));
  const lines = [...new Set([commands[0]?.line, commands.at(-1)?.line])].join('-');
  const at = `${document}:${lines}: ${commands.at(-1)?.text}`;
  if (code !== exits) return { output, fault: `${at}: expected exit code ${exits}, found ${code}:\n${output}` };
  if (missing !== undefined) return { output, fault: `${at}: expected the line ${missing}, found:\n${output}` };
  return { output };
}

interface Pages {
  /** The blocks of a page, or of one section of it. */
  take(document: string, section?: string): readonly Block[];
  /** Types a block; returns what it printed. */
  typeOne(t: Test, block: Block, place: Place): Promise<string>;
  /** Types the blocks of a page, or of one section; returns what each printed. */
  type(t: Test, place: Place, document: string, section?: string): Promise<readonly string[]>;
  /** The blocks that were not taken. */
  left(): readonly string[];
}

/** The blocks that a test types. */
export function openPages(test: string): Pages {
  const blocks = blocksFor(test);
  const left = new Set(blocks);
  const take: Pages['take'] = (document, section) => {
    const taken = blocks.filter((block) => block.document === document && (section ?? block.section) === block.section);
    if (taken.length === 0) throw new Error(`${test}: expected a block of shell in ${document}, ${section}, found none`);
    for (const block of taken) left.delete(block);
    return taken;
  };
  const typeOne: Pages['typeOne'] = async (t, block, place) => {
    const { fault, output } = await typed(t, block, place);
    t.equal(fault, undefined, `${block.document}:${block.commands[0]?.line}`);
    return output;
  };
  return {
    take,
    typeOne,
    async type(t, place, document, section) {
      const printed: string[] = [];
      for (const block of take(document, section)) printed.push(await typeOne(t, block, place));
      return printed;
    },
    left: () => [...left].map(({ document, section, commands }) => `${document}:${commands[0]?.line}: ${section}`),
  };
}
