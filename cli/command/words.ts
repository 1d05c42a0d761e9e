// Rewrites the words of a command line so that commander reads them as kubectl does.
import { type Command, connectionOptions, optionsFor } from './command.ts';

/** `-n=shop` means `-n shop`, and connection options may come before the command. Pure. */
export function asKubectl(words: readonly string[], commands: readonly Command[]): readonly string[] {
  const place = firstOperand(words);
  const command = commands.find(({ name }) => name === words[place]);
  if (command === undefined || command.verbatim) return words;
  const end = words.includes('--') ? words.indexOf('--') : words.length;
  const given = [...words.slice(0, place), ...words.slice(place + 1, end)];
  return [command.name, ...given.flatMap(apart(command)), ...words.slice(end)];
}

/** The index of the first word after the connection options; 0 if the first word is not a connection option. */
function firstOperand(words: readonly string[]): number {
  const names = connectionOptions.flatMap(namesOf);
  let place = 0;
  while (names.includes(words[place]?.split('=')[0] ?? '')) place += words[place]?.includes('=') ? 1 : 2;
  return place;
}

/** Splits `-n=shop`: commander would keep the `=` of a short option as a part of its value. */
function apart(command: Command): (word: string) => readonly string[] {
  const short = optionsFor(command)
    .filter(({ flags }) => flags.includes('<'))
    .flatMap(namesOf)
    .filter((name) => !name.startsWith('--'));
  return (word) => (short.includes(word.slice(0, 2)) && word[2] === '=' ? [word.slice(0, 2), word.slice(3)] : [word]);
}

/** Both names in `-n, --namespace <name>`. */
export function namesOf({ flags }: { readonly flags: string }): readonly string[] {
  return flags.match(/(?<![\w-])--?[A-Za-z][\w-]*/g) ?? [];
}
