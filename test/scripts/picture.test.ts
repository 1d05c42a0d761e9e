// The picture of the README: what a terminal shows of a recording, as an SVG that needs nothing else.
import { readFileSync } from 'node:fs';
import t from 'tap';
import { between, pictureOf } from '../../scripts/picture/picture.ts';
import { screenOf } from '../../scripts/picture/screen.ts';
import { svgOf } from '../../scripts/picture/svg.ts';

const plain = (recording: string): readonly string[] =>
  screenOf(recording).map((runs) => runs.reduce((line, { column, text }) => line.padEnd(column) + text, ''));

t.test('the screen has the lines that remain after a program has redrawn them', async (t) => {
  const rows: readonly (readonly [recording: string, lines: readonly string[]])[] = [
    ['one\r\ntwo\r\n', ['one', 'two']],
    ['50 %\r100 %\n', ['100 %']],
    ['tree\n  waits\n\u001b[2K\u001b[1A\u001b[2K\u001b[1A\u001b[2K\u001b[Gdone\n', ['done']],
    ['a\nb\nc\u001b[2A\u001b[J\rnew', ['new']],
    ['first\u001b[1G\u001b[Ksecond', ['second']],
    ['ab\u001b[3Cc\u001b[2Dd', ['ab  dc']],
    ['typo\b\b\b\bok  ', ['ok']],
    ['\u001b]0;a title\u0007\u001b[?25lshown\u001b[?25h\u001b=\u0000', ['shown']],
    ['\n\nlast\n\n', ['', '', 'last']],
    ['', []],
  ];
  for (const [recording, lines] of rows) t.same(plain(recording), lines, JSON.stringify(recording));
});

t.test('a run of text has the colour, the weight and the column that it had in the terminal', async (t) => {
  t.same(screenOf(' \u001b[1;31m✗\u001b[22m failed\u001b[39m: \u001b[2mwhy\u001b[0m \u001b[96mnow'), [
    [
      { column: 0, text: ' ', style: {} },
      { column: 1, text: '✗', style: { color: 1, bold: true } },
      { column: 2, text: ' failed', style: { color: 1 } },
      { column: 9, text: ': ', style: {} },
      { column: 11, text: 'why', style: { dim: true } },
      { column: 14, text: ' ', style: {} },
      { column: 15, text: 'now', style: { color: 14 } },
    ],
  ]);
});

t.test('each text of the SVG is in its place, is escaped, and needs nothing from elsewhere', async (t) => {
  const svg = svgOf(screenOf('a <b> & c\n  \u001b[32m✓\u001b[39m'), 'x < y');
  t.match(svg, '<title>x &lt; y</title>');
  t.match(svg, '<text x="16" y="30" textLength="75.6" fill="#d8dee9">a &lt;b&gt; &amp; c</text>');
  t.match(svg, '<text x="32.8" y="50" textLength="8.4" fill="#7ee787">✓</text>');
  t.match(svg, 'viewBox="0 0 107.6 72"');
  t.notMatch(svg.replace('http://www.w3.org/2000/svg', ''), /https?:|url\(|<script|<image|href/);
});

t.test('a part of a recording is between two lines, and a missing line is an error that names it', async (t) => {
  const recording = 'begin\nact 4\nshown\n  OBJECT\nend\n';
  t.equal(between(recording, 'act', 'OBJECT'), 'shown\n');
  t.equal(between(recording, undefined, undefined), recording);
  t.throws(() => between(recording, 'act 5', undefined), {
    message: 'The recording: expected a line with "act 5" after line 0, found none.',
  });
  t.throws(() => between(recording, 'OBJECT', 'shown'), { message: /a line with "shown" after line 4, found none/ });
});

t.test('the picture of the README is drawn from its recording', async (t) => {
  const [recording, picture] = ['demo.txt', 'demo.svg'].map((name) => readFileSync(`docs/images/${name}`, 'utf8'));
  t.equal(picture, pictureOf(recording ?? ''), 'npm run picture');
  for (const text of ['ImagePullBackOff', 'was rolled back', 'as before']) t.match(picture, text);
});
