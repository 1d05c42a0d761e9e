// The checks of janus doctor. Pure.
import { clean } from '../../hooks/objects/words.ts';
import { paint, type Style } from './style.ts';

interface Shown {
  readonly name: string;
  readonly state: 'ok' | 'wrong' | 'unknown';
  readonly message: string;
}

const signs = { ok: ['✓', 'ok'], wrong: ['✗', 'wrong'], unknown: ['?', 'unknown'] } as const;
const colors = { ok: 'green', wrong: 'red', unknown: 'dim' } as const;

export function healthLines(checks: readonly Shown[], style: Style): readonly string[] {
  const width = Math.max(...checks.map(({ name }) => name.length));
  return checks.map(({ name, state, message }) => {
    const sign = style.unicode ? signs[state][0] : signs[state][1].padEnd(7);
    return clean(`${sign} ${name.padEnd(width)}   ${message}`).replace(sign, paint(style, colors[state], sign));
  });
}
