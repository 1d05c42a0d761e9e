// Compiled expressions, kept for the next look: to compile one takes many times as long as to evaluate it.

/** A program takes about a hundred bytes for each character of its text. */
const mostCharacters = 256 * 1024;

/** As `compile`, of which it keeps the last results, of so many characters of text in all. */
export function keepPrograms<Program>(compile: (text: string) => Program, most = mostCharacters): (text: string) => Program {
  const programs = new Map<string, Program>();
  let characters = 0;
  const forget = (text: string): void => {
    if (programs.delete(text)) characters -= text.length;
  };
  return (text) => {
    const known = programs.get(text);
    if (known !== undefined) return known;
    const program = compile(text);
    programs.set(text, program);
    characters += text.length;
    for (const [oldest] of programs) if (characters > most) forget(oldest);
    return program;
  };
}
