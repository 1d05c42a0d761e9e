// Constraints: the semantics as a table, and generated pairs through both this reader and the Go library that it follows.
//
// `JANUS_CONSTRAINTS=1000000 npm test -- test/packages/constraint.test.ts` compares a million pairs.
import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import t from 'tap';
import { admits, readConstraint } from '../../hooks/crossplane/model/constraint.ts';
import { compareVersions, readCompleteVersion, readVersion, type Version } from '../../hooks/crossplane/model/version.ts';
import { buildPackages } from '../tools/packages/packages.ts';

const runs = Number(process.env.JANUS_CONSTRAINTS ?? 10_000);
const seed = Number(process.env.JANUS_TEST_SEED ?? 20_261_122);

interface Row {
  readonly constraint: string;
  readonly admits: string;
  readonly refuses: string;
}

const rows: readonly Row[] = [
  { constraint: '1.2.3', admits: '1.2.3 v1.2.3 1.2.3+build', refuses: '1.2.4 1.2.3-rc.1' },
  { constraint: '=1.2.3', admits: '1.2.3', refuses: '1.2.2' },
  { constraint: '1.2', admits: '1.2.0 1.2.9', refuses: '1.3.0 1.1.9' },
  { constraint: '1', admits: '1.0.0 1.9.9', refuses: '2.0.0 0.9.0' },
  { constraint: '>=1.0.0, <2.0.0', admits: '1.0.0 1.9.9', refuses: '0.9.9 2.0.0 1.5.0-rc.1' },
  { constraint: '>=1.0.0 <2.0.0', admits: '1.0.0 1.9.9', refuses: '0.9.9 2.0.0' },
  { constraint: '<1.0.0 || >=2.0.0', admits: '0.9.0 2.0.0', refuses: '1.0.0 1.9.9' },
  { constraint: '!=1.2.3', admits: '1.2.4 1.2.2', refuses: '1.2.3' },
  { constraint: '!=1.2.x', admits: '1.3.0', refuses: '1.2.0 1.2.9' },
  { constraint: '=>1.0', admits: '1.0.0 2.0.0', refuses: '0.9.9' },
  { constraint: '=<1.0', admits: '1.0.9 0.1.0', refuses: '1.1.0' },
  { constraint: '>11', admits: '12.0.0', refuses: '11.1.0' },
  { constraint: '>11.1', admits: '11.2.0', refuses: '11.1.5' },
  { constraint: '~1.2.3', admits: '1.2.3 1.2.9', refuses: '1.2.2 1.3.0' },
  { constraint: '~>1.2', admits: '1.2.0 1.2.9', refuses: '1.3.0' },
  { constraint: '~1', admits: '1.9.0', refuses: '2.0.0' },
  { constraint: '^1.2.3', admits: '1.2.3 1.9.0', refuses: '2.0.0 1.2.2' },
  { constraint: '^0.2.3', admits: '0.2.9', refuses: '0.3.0' },
  { constraint: '^0.0.3', admits: '0.0.3', refuses: '0.0.4' },
  { constraint: '^0.0', admits: '0.0.9', refuses: '0.1.0' },
  { constraint: '1.2 - 2.4.5', admits: '1.2.0 2.4.5', refuses: '2.4.6 1.1.0' },
  { constraint: '*', admits: '0.0.0 9.9.9', refuses: '1.0.0-rc.1' },
  { constraint: '1.x', admits: '1.0.0 1.9.9', refuses: '2.0.0' },
  { constraint: 'v1.2.X', admits: '1.2.9', refuses: '1.3.0' },
  { constraint: '>=1.0.0-0', admits: '1.0.0-rc.1 2.0.0-alpha 1.0.0', refuses: '0.9.9' },
  { constraint: '>=1.0.0-0, <2.0.0', admits: '1.5.0-rc.1', refuses: '2.0.0' },
  { constraint: '>=1.0.0-0 || <0.5.0', admits: '0.4.0 1.5.0-rc.1', refuses: '0.4.0-rc.1' },
  { constraint: '>1.0.0-rc.2', admits: '1.0.0-rc.10 1.0.0', refuses: '1.0.0-rc.2 1.0.0-beta' },
];

const listed = (text: string) => text.split(' ').map((one) => readVersion(one));

for (const row of rows)
  t.test(row.constraint, async (t) => {
    const constraint = readConstraint(row.constraint);
    const isIn = (version: Version | undefined) => constraint && version && admits(constraint, version);
    for (const version of listed(row.admits)) t.equal(isIn(version), true, `admits ${version?.text}`);
    for (const version of listed(row.refuses)) t.equal(isIn(version), false, `refuses ${version?.text}`);
  });

t.test('the engine refuses text that is no constraint', async (t) => {
  const none = ['', 'latest', '>=', '1.2.3.4', '1,,2', ',1', '1,', '1 ||', '1 |2', '1.2.3-01', '>= <2', `1.${'0'.repeat(520)}`];
  for (const text of [...none, 'sha256:abc', `${'1||'.repeat(33)}1`]) t.equal(readConstraint(text), undefined, text.slice(0, 40));
});

t.test('a digest is one, and no version is in it', async (t) => {
  const constraint = readConstraint(`sha256:${'ab'.repeat(32)}`);
  t.match(constraint, { kind: 'digest', digest: /^sha256:/ });
  const version = readVersion('1.0.0');
  t.notOk(constraint && version && admits(constraint, version));
});

t.test('the engine does not choose a tag that is no complete version', async (t) => {
  for (const tag of ['v1', 'latest', '1.2', 'v1.2-rc', 'main-1.2.3', '']) t.equal(readCompleteVersion(tag), undefined, tag);
  for (const tag of ['v1.2.3', '1.2.3', 'v1.2.3-rc.1', '1.2.3+one']) t.equal(readCompleteVersion(tag)?.text, tag);
});

t.test('versions are ordered', async (t) => {
  const order = '0.0.1 0.1.0 1.0.0-1 1.0.0-2 1.0.0-10 1.0.0-alpha 1.0.0-alpha.1 1.0.0-beta 1.0.0 1.0.1 1.10.0 2.0.0'.split(' ');
  const versions = listed([...order].reverse().join(' ')).filter((version) => version !== undefined);
  t.same(
    versions.sort(compareVersions).map(({ text }) => text),
    order,
  );
});

t.test('runs of spaces take no time to be refused', async (t) => {
  t.equal(readConstraint(`${'1    '.repeat(100)}!`), undefined);
  t.equal(readConstraint(`${'1 ,   '.repeat(80)}!`), undefined);
});

const digits = fc.oneof(
  { weight: 12, arbitrary: fc.nat(3).map(String) },
  fc.constantFrom('10', '01', '18446744073709551615', '18446744073709551616'),
);
const ends = fc.oneof(
  { weight: 3, arbitrary: fc.constant('') },
  fc.constantFrom(
    '-0',
    '-rc.1',
    '-rc.2',
    '-rc.10',
    '-alpha',
    '-01',
    '-1',
    '-a-b',
    '-rc.1+build',
    '+build',
    '+b.1',
    '-18446744073709551616',
  ),
);
const prefix = fc.constantFrom('', '', 'v');
const join = (...parts: readonly fc.Arbitrary<string>[]): fc.Arbitrary<string> =>
  fc.tuple(...parts).map((texts) => texts.join(''));

const version = join(
  prefix,
  fc.array(digits, { minLength: 3, maxLength: 3 }).map((parts) => parts.join('.')),
  ends,
);
const openPart = fc.oneof({ weight: 8, arbitrary: digits }, fc.constantFrom('x', 'X', '*', 'xx', '1|2'));
const bound = join(
  prefix,
  fc.array(openPart, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('.')),
  ends,
);
const operator = fc.constantFrom('', '=', '!=', '>', '<', '>=', '=>', '<=', '=<', '~', '~>', '^', '==', '><');
const spaces = fc.oneof({ weight: 8, arbitrary: fc.constantFrom('', ' ') }, fc.constantFrom('  ', '\t', '\n', '\u00a0', '\v'));
const oneTerm = fc.oneof(
  { weight: 8, arbitrary: join(operator, spaces, bound) },
  join(bound, fc.constantFrom(' - ', '-', ' -', '  -  '), bound),
);
const separators = fc.constantFrom(' ', ', ', ',', ' , ', '  ', '', ' || ', '||', ' | ', ',,');
const constraint = fc.oneof(
  {
    weight: 12,
    arbitrary: fc
      .array(fc.tuple(oneTerm, separators), { minLength: 1, maxLength: 4 })
      .map((parts) => parts.map(([term, after], index) => (index === parts.length - 1 ? term : term + after)).join('')),
  },
  fc.string({ unit: fc.constantFrom(...'01x*.-+v<>=!~^|, '), maxLength: 12 }),
  fc.string({ maxLength: 8 }),
);

t.test(`${runs} pairs agree with the library, JANUS_TEST_SEED=${seed}`, async (t) => {
  const { oracle } = await buildPackages((line) => t.comment(line));
  const pairs = fc.sample(fc.record({ constraint, version }), { seed, numRuns: runs });
  const input = pairs.map((pair) => JSON.stringify(pair)).join('\n');
  const { stdout, status } = spawnSync(oracle, { input, encoding: 'utf8', maxBuffer: 1 << 30 });
  t.equal(status, 0);
  const answers = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  t.equal(answers.length, pairs.length);
  const differing = pairs.flatMap((pair, index) => {
    const [range, one] = [readConstraint(pair.constraint), readVersion(pair.version)];
    const isIn = range !== undefined && one !== undefined && admits(range, one);
    const own = { constraint: range !== undefined, version: one !== undefined, admits: isIn };
    const same = JSON.stringify(own) === JSON.stringify(answers[index]);
    return same ? [] : [{ ...pair, own, library: answers[index] }];
  });
  t.same(differing.slice(0, 5), [], `${differing.length} differ`);
  const counted = (key: string): number => answers.filter((one) => one[key]).length;
  t.ok(counted('constraint') > runs / 4 && counted('constraint') < runs, `${counted('constraint')} are constraints`);
  t.ok(counted('admits') > runs / 20, `${counted('admits')} are satisfied`);
});
