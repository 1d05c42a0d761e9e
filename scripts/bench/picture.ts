// Draws a time line as one HTML file with an SVG picture; the file loads nothing else.

export type Lane = 'client' | 'call' | 'hook' | 'loop';

export interface Bar {
  readonly lane: Lane;
  /** The kind of event. All bars of a kind have an equal text. */
  readonly what: string;
  /** The object of the event. */
  readonly name: string;
  /** ms, like `end`. */
  readonly start: number;
  readonly end: number;
}

const colours: Readonly<Record<Lane, string>> = { client: '#555', call: '#7f9acb', hook: '#c97b3d', loop: '#5b9e6a' };
const legend: Readonly<Record<Lane, string>> = {
  client: 'the creation of the Transaction',
  call: 'a call of the hook',
  hook: 'a request of the hook to the API server',
  loop: 'a request of the loop to the API server',
};

/** Pixels. A bar is at least `thinnest` wide, and no other bar overlaps it. */
const [margin, names, drawn, thinnest, gap] = [24, 330, 1_200, 1.5, 0.5] as const;

interface Span {
  readonly from: number;
  readonly to: number;
}

/** Bars of one kind. Bars that overlap in time get rows of their own. */
interface Group {
  readonly lane: Lane;
  readonly what: string;
  readonly rows: readonly (readonly Bar[])[];
}

/** One line of text for each bar, in the order of their starts: start, duration, event. */
export function linesOf(bars: readonly Bar[], from: number): readonly string[] {
  return inOrder(bars).map(({ lane, what, name, start, end }) => {
    const [begins, takes] = [(start - from).toFixed(1).padStart(9), (end - start).toFixed(1).padStart(8)];
    return `${begins} ms ${takes} ms  ${lane.padEnd(6)}  ${what} ${name}`.trimEnd();
  });
}

/** A group of rows for each kind of call and request, in the order of their starts. Each bar has its line as a tooltip. */
export function pictureOf(title: string, bars: readonly Bar[], span: Span): string {
  const perPixel = (span.to - span.from) / drawn;
  const groups = groupsOf(bars, (thinnest + gap) * perPixel);
  const pieces: string[] = [];
  let top = margin;
  for (const group of groups) {
    const height = group.rows.length > 4 ? 4 : 11;
    pieces.push(drawGroup(group, { top, height, perPixel, from: span.from }));
    top += Math.max(13, group.rows.length * height) + 5;
  }
  const notes = (Object.keys(legend) as Lane[]).map((lane) => noteOf(lane, bars));
  const all = linesOf(bars, span.from).map(escaped).join('\n');
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${escaped(title)}</title>
<style>body{font:13px sans-serif;margin:16px}text{font:11px sans-serif;fill:#333}.time{fill:#999}</style></head>
<body><h1>${escaped(title)}</h1><p>${notes.join(' &nbsp; ')}</p>
<svg xmlns="http://www.w3.org/2000/svg" width="${names + drawn + margin}" height="${top}">
${gridOf(span.to - span.from, perPixel, top)}
${pieces.join('\n')}
</svg>
<details><summary>Each of them</summary><pre>${all}</pre></details></body></html>
`;
}

function inOrder(bars: readonly Bar[]): readonly Bar[] {
  return bars.toSorted((one, other) => one.start - other.start);
}

function groupsOf(bars: readonly Bar[], least: number): readonly Group[] {
  const kinds = Map.groupBy(inOrder(bars), ({ lane, what }) => `${lane} ${lane === 'call' ? '' : what}`);
  return [...kinds.values()].map((all) => ({ lane: all[0]?.lane ?? 'hook', what: all[0]?.what ?? '', rows: rowsOf(all, least) }));
}

/** Puts each bar into the first row in which it touches no other bar. `least`: the minimum width of a bar, in ms. */
function rowsOf(bars: readonly Bar[], least: number): readonly (readonly Bar[])[] {
  const rows: { readonly bars: Bar[]; end: number }[] = [];
  for (const bar of bars) {
    const free = rows.find(({ end }) => end <= bar.start);
    const row = free ?? { bars: [], end: 0 };
    if (free === undefined) rows.push(row);
    row.bars.push(bar);
    row.end = Math.max(bar.end, bar.start + least);
  }
  return rows.map((row) => row.bars);
}

function noteOf(lane: Lane, bars: readonly Bar[]): string {
  return `<span style="color:${colours[lane]}">&#9632;</span> ${legend[lane]} (${sumOf(bars.filter((bar) => bar.lane === lane))})`;
}

function sumOf(bars: readonly Bar[]): string {
  const total = bars.reduce((sum, { start, end }) => sum + end - start, 0);
  return `${bars.length}, ${total.toFixed(0)} ms in all`;
}

interface Placed {
  readonly top: number;
  /** The height of a row. */
  readonly height: number;
  readonly perPixel: number;
  readonly from: number;
}

function drawGroup({ lane, what, rows }: Group, { top, height, perPixel, from }: Placed): string {
  const label = `<text x="0" y="${top + 10}">${escaped(`${what} (${sumOf(rows.flat())})`)}</text>`;
  const bars = rows.flatMap((row, index) =>
    row.map((bar) => {
      const [left, width] = [names + (bar.start - from) / perPixel, Math.max(thinnest, (bar.end - bar.start) / perPixel)];
      const place = `x="${left.toFixed(2)}" y="${top + index * height}" width="${width.toFixed(2)}" height="${height - 1}"`;
      return `<rect ${place} fill="${colours[lane]}"><title>${escaped(linesOf([bar], from).join('').trim())}</title></rect>`;
    }),
  );
  return [label, ...bars].join('');
}

function gridOf(span: number, perPixel: number, height: number): string {
  const step = [5, 10, 20, 50, 100, 200, 500, 1_000].find((ms) => ms / perPixel >= 60) ?? 5_000;
  const times = Array.from({ length: Math.floor(span / step) + 1 }, (_, index) => index * step);
  const lines = times.map((time) => {
    const x = (names + time / perPixel).toFixed(1);
    return `<path d="M${x} 18V${height}" stroke="#eee"/><text class="time" x="${x}" y="12">${time} ms</text>`;
  });
  return lines.join('\n');
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
