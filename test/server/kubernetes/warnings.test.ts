// The Warning headers of an answer: each text once, bounded and clean, whoever wrote it.
import t from 'tap';
import { warningsIn } from '../../../server/kubernetes/warnings.ts';

/** As undici gives it. */
const header = (text: string): string => Buffer.from(`299 - "${text}"`).toString('latin1');

const rows: readonly { readonly because: string; readonly found: string | string[] | undefined; readonly warnings?: object }[] = [
  { because: 'no header is no warning', found: undefined },
  { because: 'what is no warning is none', found: 'out of order' },
  { because: 'one header is one warning', found: header('old'), warnings: { count: 1, texts: ['old'] } },
  {
    because: 'quotes and backslashes come back, and UTF-8',
    found: header('\\"a\\" \\\\ é'),
    warnings: { count: 1, texts: ['"a" \\ é'] },
  },
  { because: 'a text counts once', found: [header('old'), header('old')], warnings: { count: 1, texts: ['old'] } },
  {
    because: 'a proxy may join headers, and a text may hold what separates them',
    found: `${header('one, 299 - two')}, ${header('two')}`,
    warnings: { count: 2, texts: ['one, 299 - two', 'two'] },
  },
  {
    because: 'three texts are kept, the others are counted',
    found: ['a', 'b', 'c', 'd'].map(header),
    warnings: { count: 4, texts: ['a', 'b', 'c'] },
  },
  {
    because: 'controls and directions become visible',
    found: header('\u001b[31m\u202egnp.exe'),
    warnings: { count: 1, texts: [String.raw`\u{1b}[31m\u{202e}gnp.exe`] },
  },
];

for (const { because, found, warnings } of rows) {
  t.test(because, async (t) => {
    t.same(warningsIn(found), warnings === undefined ? {} : { warnings });
  });
}

t.test('a warning of 10 kB is cut, and takes no time', async (t) => {
  const { warnings } = warningsIn(header('\\\\'.repeat(5_000)));
  t.same(warnings, { count: 1, texts: [`${'\\'.repeat(199)}…`] });
  t.same(warningsIn(header('"'.repeat(100_000))), { warnings: { count: 1, texts: [''] } });
});
