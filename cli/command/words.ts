// The words of a command line as kubectl reads them, put so that commander reads them alike.
import { type Command, connectionOptions, optionsFor } from './command.ts';

/** `-n=shop` is `-n shop`, and options of the connection may stand before the command. Pure. */
export function asKubectl(words: readonly string[], commands: readonly Command[]): readonly string[] {
  const place = firstOperand(words);
  const command = commands.find(({ name }) => name === words[place]);
  if (command === undefined || command.verbatim) return words;
  const end = words.includes('--') ? words.indexOf('--') : words.length;
  const given = [...words.slice(0, place), ...words.slice(place + 1, end)];
  return [command.name, ...given.flatMap(apart(command)), ...words.slice(end)];
}

/** Behind options of the connection; 0 if the first word is none. */
function firstOperand(words: readonly string[]): number {
  const names = connectionOptions.flatMap(namesOf);
  let place = 0;
  while (names.includes(words[place]?.split('=')[0] ?? '')) place += words[place]?.includes('=') ? 1 : 2;
  return place;
}

/** commander would keep the `=` of a short option as a part of its value. */
function apart(command: Command): (word: string) => readonly string[] {
  const short = optionsFor(command)
    .filter(({ flags }) => flags.includes('<'))
    .flatMap(namesOf)
    .filter((name) => !name.startsWith('--'));
  return (word) => (short.includes(word.slice(0, 2)) && word[2] === '=' ? [word.slice(0, 2), word.slice(3)] : [word]);
}

/** `-n, --namespace <name>`: both names. */
export function namesOf({ flags }: { readonly flags: string }): readonly string[] {
  return flags.match(/(?<![\w-])--?[A-Za-z][\w-]*/g) ?? [];
}
