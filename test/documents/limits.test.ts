// The table of limits in docs/reference.md is that of the code. `JANUS_WRITE_DOCS=1` writes it; format it then.
import { readFileSync, writeFileSync } from 'node:fs';
import t from 'tap';
import { limits } from '../../hooks/objects/limits.ts';

const file = new URL('../../docs/reference.md', import.meta.url);
const part = /(<!-- limits -->)[\s\S]*(<!-- \/limits -->)/;
const [kibi, mebi] = [1024, 1024 * 1024];

function amountOf({ value, unit }: (typeof limits)[keyof typeof limits]): string {
  if (unit === 'times') return `${value} times`;
  if (unit === 'ms') return value < 1_000 ? `${value} ms` : `${value / 1_000} s`;
  if (unit !== 'bytes') return `${value.toLocaleString('en').replaceAll(',', ' ')} ${unit}`;
  if (value % mebi === 0) return `${value / mebi} MiB`;
  return value % kibi === 0 ? `${value / kibi} KiB` : `${value.toLocaleString('en').replaceAll(',', ' ')} bytes`;
}

const rows = Object.values(limits).map((one) => `| ${amountOf(one)} | ${one.of} | ${one.because} | ${one.beyond} |`);
const table = ['| at most | of | because | beyond it |', '| --- | --- | --- | --- |', ...rows].join('\n');

/** The formatter aligns tables. */
const plain = (text: string): string => text.replaceAll(/-{3,}/g, '---').replaceAll(/[ \n]+/g, ' ');

t.test('docs/reference.md has the limits of the code', async (t) => {
  const withTable = (text: string): string => text.replace(part, `$1\n\n${table}\n\n$2`);
  const document = readFileSync(file, 'utf8');
  if (process.env.JANUS_WRITE_DOCS === '1') writeFileSync(file, withTable(document));
  const written = readFileSync(file, 'utf8');
  t.match(written, part);
  t.equal(plain(written), plain(withTable(written)), 'JANUS_WRITE_DOCS=1 node test/documents/limits.test.ts writes it');
});
