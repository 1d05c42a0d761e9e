// The tests that `npm test` counts in its last line. The lines are those that tap 21 prints.
import t from 'tap';
import { type FileResults, fileByFile } from '../../scripts/tap-results.ts';

function read(text: string): readonly FileResults[] {
  const files: FileResults[] = [];
  fileByFile((file) => files.push(file)).end(text);
  return files;
}

const nested = `TAP version 14
1..2
# Subtest: test/nested.test.ts
    # Subtest: outer
        ok 1 - should be equal
        # Subtest: good
            ok 1 - should be equal
            1..1
        ok 2 - good # time=7.44ms
        
        # Subtest: bad
            not ok 1 - deep
              ---
              diff: |
                -  "a": 2,
                +  "a": 1,
              source: |
                not ok 1 - in the source text
              ...
            
            1..1
        not ok 3 - bad # time=28.8ms
          ---
          at:
            lineNumber: 4
          ...
        
        1..3
    not ok 1 - outer # time=58.347ms
      ---
      at:
        lineNumber: 4
      ...
    
    ok 2 - not today # SKIP why
    ok 3 - some day # TODO
    1..3
    # time=73.706ms
not ok 1 - test/nested.test.ts # time=73.706ms
  ---
  exitCode: 1
  ...

# Subtest: test/flat.test.ts
    ok 1 - should be equal
    ok 2 - second
    1..2
ok 2 - test/flat.test.ts # time=16.357ms

# { total: 8, pass: 5, fail: 1, todo: 1, skip: 1 }
`;

t.test('blocks without blocks inside count, and a file without any counts as one', async (t) => {
  const [first, second] = read(nested);
  t.match(first, { file: 'test/nested.test.ts', passed: 1, failed: 1 });
  t.equal(first?.seconds.toFixed(3), '0.074');
  t.match(second, { file: 'test/flat.test.ts', passed: 1, failed: 0, skipped: 0 });
});

t.test('the reader reports a failure with its path and the words of tap about the assertion', async (t) => {
  const [failure = ''] = read(nested)[0]?.failures ?? [];
  t.match(failure, /^test\/nested.test.ts > outer > bad\n {2}not ok 1 - deep\n/);
  t.match(failure, /\+ {2}"a": 1,/);
});

t.test('a crash after tests that passed is one failed test more', async (t) => {
  const [file] = read(`# Subtest: test/crash.test.ts
    # Subtest: fine
        ok 1 - should be equal
        1..1
    ok 1 - fine # time=3.691ms
    
    not ok 2 - crash of the file
      ---
      tapCaught: unhandledRejection
      ...
    
    1..2
not ok 1 - test/crash.test.ts # time=38.412ms
  ---
  exitCode: 1
  ...

`);
  t.match(file, { passed: 1, failed: 1, failures: [/crash.test.ts\n {2}not ok 2 - crash of the file/] });
});

t.test('a file that does not even load is one failed test', async (t) => {
  const [file] = read(`# Subtest: test/broken.test.ts
    1..0 # no tests found
not ok 1 - test/broken.test.ts # time=99.1ms
  ---
  exitCode: 1
  ...

`);
  t.match(file, { passed: 0, failed: 1, failures: [/exitCode: 1/] });
});

t.test('a file that was killed because it hung is one failed test', async (t) => {
  const [file] = read(`# Subtest: test/hang.test.ts
    # Subtest: hangs
        not ok 1 - timeout!
          ---
          expired: TAP
          ...
        
        1..1
    not ok 1 - hangs # time=3001.666ms
    
    1..1
not ok 1 - test/hang.test.ts # time=3015.366ms
  ---
  signal: SIGALRM
  ...

`);
  t.match(file, { passed: 0, failed: 1, failures: [/hang.test.ts > hangs\n {2}not ok 1 - timeout!/] });
});

t.test('a file whose only tests are skipped passes nothing', async (t) => {
  const [file] = read(`# Subtest: test/skipped.test.ts
    ok 1 - not here # SKIP no cluster
    1..1
ok 1 - test/skipped.test.ts # time=5ms

`);
  t.match(file, { passed: 0, failed: 0, skipped: 1 });
});
