// A time line as one HTML file with an SVG picture in it; nothing is loaded from elsewhere.

export type Lane = 'call' | 'hook' | 'loop';

export interface Bar {
  readonly lane: Lane;
  readonly what: string;
  /** Milliseconds, like `end`. */
  readonly start: number;
  readonly end: number;
}

const colours: Readonly<Record<Lane, string>> = { call: '#7f9acb', hook: '#c97b3d', loop: '#5b9e6a' };
const legend: Readonly<Record<Lane, string>> = {
  call: 'a call of the hook',
  hook: 'a request of the hook to the API server',
  loop: 'a request of the loop to the API server',
};

const [rowHeight, margin, pixelsPerMs] = [15, 30, 6];

interface Span {
  readonly from: number;
  readonly to: number;
}

/** One line for each bar, in the order in which they begin; requests stand below the call that made them. */
export function pictureOf(title: string, bars: readonly Bar[], { from, to }: Span): string {
  const sorted = bars.toSorted((one, other) => one.start - other.start);
  const width = Math.ceil((to - from) * pixelsPerMs) + 400;
  const height = sorted.length * rowHeight + 2 * margin;
  const place = (time: number): number => margin + (time - from) * pixelsPerMs;
  const drawn = sorted.map((bar, index) => drawBar(bar, place, margin + index * rowHeight));
  const notes = (Object.keys(legend) as Lane[]).map((lane) => noteOf(lane, bars));
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${escaped(title)}</title>
<style>body{font:13px sans-serif;margin:16px}text{font:10px sans-serif;fill:#333}.time{fill:#999}</style></head>
<body><h1>${escaped(title)}</h1><p>${notes.join(' &nbsp; ')}</p>
<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">
${gridOf(to - from, height)}
${drawn.join('\n')}
</svg></body></html>
`;
}

function noteOf(lane: Lane, bars: readonly Bar[]): string {
  const own = bars.filter((bar) => bar.lane === lane);
  const total = own.reduce((sum, { start, end }) => sum + end - start, 0);
  return `<span style="color:${colours[lane]}">&#9632;</span> ${legend[lane]} (${own.length}, ${total.toFixed(0)} ms in all)`;
}

function drawBar({ lane, what, start, end }: Bar, place: (time: number) => number, top: number): string {
  const [left, width] = [place(start), Math.max(1, (end - start) * pixelsPerMs)];
  const text = `${what} ${(end - start).toFixed(1)} ms`;
  const bar = `<rect x="${left.toFixed(1)}" y="${top}" width="${width.toFixed(1)}" height="${rowHeight - 3}" fill="${colours[lane]}"/>`;
  return `${bar}<text x="${(left + width + 4).toFixed(1)}" y="${top + rowHeight - 5}">${escaped(text)}</text>`;
}

function gridOf(span: number, height: number): string {
  const times = Array.from({ length: Math.ceil(span / 10) }, (_, index) => index * 10);
  const lines = times.map((time) => {
    const x = margin + time * pixelsPerMs;
    return `<path d="M${x} 20V${height}" stroke="#eee"/><text class="time" x="${x}" y="14">${time} ms</text>`;
  });
  return lines.join('\n');
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
