// Tokens of callers without a socket: which text is a token, who is admitted, what a refusal says, and how tokens are replaced.
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { type OpenAccess, openAccess } from '../../../server/access/open.ts';
import { freeFolder } from '../../support/hook-process.ts';
import { noOwn, request, type TestApp, testApp } from '../parts.ts';

const [first, second, third] = ['1', '2', '3'].map((digit) => digit.repeat(40)) as [string, string, string];

interface Opened {
  readonly opened: OpenAccess;
  readonly app: TestApp;
  /** Puts a token there as kubelet does, or takes it away; then the files are read again. */
  put(name: 'current' | 'previous', text: string | undefined): void;
}

function open(t: Test, files: Readonly<Record<string, string>>): Opened {
  const directory = freeFolder(t);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
  const result = openAccess({ tokenDirectory: directory });
  if (result.kind !== 'ok') throw new Error(result.faults.join());
  const opened = result.value;
  const app = testApp({ access: opened.access, packages: () => ({ hook: noPackages, own: noOwn, namespace: 'packages' }) });
  const put: Opened['put'] = (name, text) => {
    const path = join(directory, name);
    if (text === undefined) rmSync(path);
    else {
      writeFileSync(`${path}.new`, text);
      renameSync(`${path}.new`, path);
    }
    opened.readAgain(app.server.log, app.renewTls);
  };
  return { opened, app, put };
}

const noPackages = async (): Promise<never> => {
  throw new Error('no call of this test reaches package transactions');
};

const json = { 'content-type': 'application/json' };

async function call({ app }: Opened, authorization?: string, path = '/sync') {
  const headers = { ...json, ...(authorization === undefined ? {} : { authorization }) };
  return app.server.inject({ method: 'POST', url: path, headers, payload: request });
}

const codeFor = async (opened: Opened, token: string): Promise<number> => (await call(opened, `Bearer ${token}`)).statusCode;

const refused: readonly (readonly [reason: string, authorization: string | undefined])[] = [
  ['none', undefined],
  ['an empty one', ''],
  ['the scheme alone', 'Bearer'],
  ['a scheme with nothing', 'Bearer '],
  ['no scheme', first],
  ['another scheme', `Basic ${first}`],
  ['one character less', `Bearer ${first.slice(1)}`],
  ['one character more', `Bearer ${first}1`],
  ['one character different at the end', `Bearer ${first.slice(1)}2`],
  ['one character different at the start', `Bearer 2${first.slice(1)}`],
  ['two of them', `Bearer ${first} ${first}`],
  ['what the file holds, white space included', `Bearer "${first}\n"`],
  ['one that was never there', `Bearer ${third}`],
  ['much of it', `Bearer ${first.repeat(200)}`],
  ['odd keys', 'Bearer __proto__'],
];

t.test('the hook refuses a caller without a token in constant words, before it reads the body', async (t) => {
  const opened = open(t, { current: `${first}\n` });
  for (const path of [
    '/sync',
    '/finalize',
    '/packages/sync',
    '/packages/finalize',
    '/packages/customize',
    '/packages/status/sync',
    '/packages/status/customize',
    '/packages/own/sync',
    '/packages/own/finalize',
    '/packages/own/customize',
  ])
    for (const [reason, authorization] of refused) {
      const answer = await call(opened, authorization, path);
      t.equal(answer.statusCode, 401, reason);
      t.equal(answer.body, '{"error":"unauthorized"}', reason);
      t.equal(answer.headers['www-authenticate'], 'Bearer', reason);
    }
  const broken = { method: 'POST', url: '/sync', headers: json, payload: '{' } as const;
  t.equal((await opened.app.server.inject(broken)).statusCode, 401, 'also if the body is invalid');
  t.same(opened.app.calls, []);
});

t.test('the log reports refusals, but not each one, and never the sent text', async (t) => {
  const opened = open(t, { current: first });
  for (const [, authorization] of refused) await call(opened, authorization);
  t.match(opened.app.lines, [{ level: 40, refused: 1, msg: 'rejected calls without a valid token or certificate' }]);
  t.equal(opened.app.lines.length, 1);
  t.notMatch(JSON.stringify(opened.app.lines), /1111/);
});

t.test('the hook serves a caller with the token', async (t) => {
  const opened = open(t, { current: `\n  ${first}\n` });
  for (const authorization of [`Bearer ${first}`, `bearer ${first}`, `BEARER  ${first} `]) {
    t.equal((await call(opened, authorization)).statusCode, 200);
    t.equal((await call(opened, authorization, '/finalize')).statusCode, 200);
  }
});

t.test('probes, metrics and unknown paths need no token', async (t) => {
  const { app } = open(t, { current: first });
  for (const [path, code] of [
    ['/healthz', 200],
    ['/readyz', 200],
    ['/metrics', 200],
    ['/sync', 405],
    ['/', 404],
  ] as const)
    t.equal((await app.server.inject(path)).statusCode, code, path);
});

t.test('an administrator replaces a token without a restart', async (t) => {
  const opened = open(t, { current: first });
  t.equal(await codeFor(opened, second), 401);
  opened.put('previous', first);
  opened.put('current', second);
  t.equal(await codeFor(opened, first), 200, 'the previous one is still accepted');
  t.equal(await codeFor(opened, second), 200);
  opened.put('previous', undefined);
  t.equal(await codeFor(opened, first), 401, 'rotated out');
  t.equal(await codeFor(opened, second), 200);
  const reloads = opened.app.lines.filter(({ msg }) => msg === 'reloaded caller tokens');
  t.same(
    reloads.map(({ accepted }) => accepted),
    [2, 2, 1],
  );
});

t.test('an invalid token file changes nothing, and the log reports it once', async (t) => {
  const opened = open(t, { current: first, previous: second });
  for (const text of ['', undefined] as const) {
    opened.put('current', text);
    opened.opened.readAgain(opened.app.server.log, opened.app.renewTls);
    t.equal(await codeFor(opened, first), 200);
    t.equal(await codeFor(opened, second), 200);
    t.equal(await codeFor(opened, ''), 401);
  }
  t.match(
    opened.app.lines.filter(({ faults }) => faults !== undefined),
    [
      {
        msg: 'reloaded credentials are invalid; keeping the previous ones',
        faults: [/current: expected a token of 32 to 1024 characters, found 0$/],
      },
      { faults: [/current: expected a file with a token, found none that can be read$/] },
    ],
  );
});

const shapes: readonly (readonly [reason: string, files: Readonly<Record<string, string>>, fault: RegExp])[] = [
  ['it is missing', {}, /current: expected a file with a token, found none that can be read$/],
  ['it is empty', { current: '\n' }, /current: expected a token of 32 to 1024 characters, found 0$/],
  ['it is short', { current: 'hunter2' }, /current: expected a token of 32 to 1024 characters, found 7$/],
  ['it is long', { current: 'a'.repeat(1025) }, /current: expected a token of 32 to 1024 characters, found 1025$/],
  [
    'it has a space',
    { current: `${first} ${first}` },
    /current: expected a token of letters, digits and -\._~\+\/ with = at its end only, found other characters$/,
  ],
  ['it has letters beyond ASCII', { current: 'ä'.repeat(40) }, /found other characters$/],
  ['it has = within', { current: `=${first}` }, /found other characters$/],
  [
    'the previous one is invalid',
    { current: first, previous: 'hunter2' },
    /previous: expected a token of 32 to 1024 characters, found 7$/,
  ],
];

for (const [reason, files, fault] of shapes)
  t.test(`a hook does not start when of the token ${reason}`, async (t) => {
    const directory = freeFolder(t);
    for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
    const result = openAccess({ tokenDirectory: directory });
    t.match(result, { kind: 'faults', faults: [fault] });
    t.notMatch(JSON.stringify(result), /hunter2/);
  });
