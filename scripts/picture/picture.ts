// The picture of the README: a part of a recording, drawn.
import { screenOf } from './screen.ts';
import { svgOf } from './svg.ts';

const title = 'A release with a bad image: the engine waits, names the cause, and restores every object';

export function pictureOf(recording: string): string {
  return svgOf(screenOf(recording), title);
}

/** The lines after the first one that contains `after`, and before the next one that contains `before`. Without a text: to that end. */
export function between(recording: string, after: string | undefined, before: string | undefined): string {
  const lines = recording.split('\n');
  const begin = after === undefined ? 0 : indexOf(lines, after, 0) + 1;
  const end = before === undefined ? lines.length : indexOf(lines, before, begin);
  return `${lines.slice(begin, end).join('\n').trim()}\n`;
}

function indexOf(lines: readonly string[], text: string, from: number): number {
  const found = lines.findIndex((line, index) => index >= from && line.includes(text));
  if (found < 0) throw new Error(`The recording: expected a line with "${text}" after line ${from}, found none.`);
  return found;
}
