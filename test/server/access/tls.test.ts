// TLS on a real socket: plain HTTP is refused, certificates are asked for where calls come in, all of it can be replaced.
import { renameSync, writeFileSync } from 'node:fs';
import { request as plain } from 'node:http';
import { request as secure } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { type OpenAccess, openAccess } from '../../../server/access/open.ts';
import { type Certificate, makeCertificate } from '../../support/certificate.ts';
import { freeFolder, get } from '../../support/hook-process.ts';
import { callHeaders, hookToken } from '../../support/hook-token.ts';
import { request, type TestApp, testApp } from '../parts.ts';

interface Caller {
  /** What the caller trusts. */
  readonly trusted: Certificate;
  readonly shown?: Certificate;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Served {
  readonly app: TestApp;
  readonly port: number;
  readonly opened: OpenAccess;
  write(files: Readonly<Record<string, string>>): void;
  call(path: string, caller: Caller): Promise<{ readonly code: number | undefined; readonly body: string }>;
}

const paths = (directory: string) => ({
  certificate: join(directory, 'tls.crt'),
  key: join(directory, 'tls.key'),
  clientAuthority: join(directory, 'ca.crt'),
});

async function serve(t: Test, server: Certificate, authority?: Certificate): Promise<Served> {
  const directory = freeFolder(t);
  const write: Served['write'] = (files) => {
    for (const [name, content] of Object.entries(files)) {
      writeFileSync(join(directory, `${name}.new`), content);
      renameSync(join(directory, `${name}.new`), join(directory, name));
    }
  };
  write({ current: hookToken, 'tls.crt': server.certificate, 'tls.key': server.key });
  if (authority !== undefined) write({ 'ca.crt': authority.certificate });
  const { clientAuthority, ...tls } = paths(directory);
  const result = openAccess({ tokenDirectory: directory, tls: authority === undefined ? tls : { ...tls, clientAuthority } });
  if (result.kind !== 'ok') throw new Error(result.faults.join());
  const opened = result.value;
  const app = testApp({ access: opened.access });
  await app.server.listen({ host: '127.0.0.1', port: 0 });
  t.teardown(() => app.drain());
  const { port } = app.server.server.address() as AddressInfo;
  const call: Served['call'] = (path, { trusted, shown, headers = callHeaders }) =>
    new Promise((resolve, reject) => {
      const own = { cert: shown?.certificate, key: shown?.key };
      const target = { host: '127.0.0.1', port, path, ca: trusted.certificate, ...own };
      const method = path === '/sync' ? 'POST' : 'GET';
      const sent = secure({ ...target, method, headers }, (answer) => {
        text(answer).then((body) => resolve({ code: answer.statusCode, body }), reject);
      });
      sent.on('error', reject).end(method === 'POST' ? JSON.stringify(request) : undefined);
    });
  return { app, port, opened, write, call };
}

const [one, other, client, stranger] = [makeCertificate(), makeCertificate(), makeCertificate(), makeCertificate()];

t.test('the hook with a certificate speaks only TLS', async (t) => {
  const served = await serve(t, one);
  t.equal((await served.call('/sync', { trusted: one })).code, 200);
  t.equal((await served.call('/sync', { trusted: one, headers: { 'content-type': 'application/json' } })).code, 401);
  await t.rejects(served.call('/sync', { trusted: other }), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
  await t.rejects(get(`http://127.0.0.1:${served.port}/healthz`), 'plain HTTP');
  const posted = new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port: served.port, path: '/sync', method: 'POST', headers: callHeaders };
    plain(options, resolve).on('error', reject).end(JSON.stringify(request));
  });
  await t.rejects(posted, 'plain HTTP with a token');
  t.equal(served.app.calls.length, 1);
});

t.test('with an authority callers must show a certificate as well as the token, probes need none', async (t) => {
  const served = await serve(t, one, client);
  t.equal((await served.call('/sync', { trusted: one, shown: client })).code, 200);
  for (const [reason, caller] of [
    ['no certificate', {}],
    ['a certificate of somebody else', { shown: stranger }],
    ['that of the hook itself', { shown: one }],
    ['a certificate but no token', { shown: client, headers: { 'content-type': 'application/json' } }],
  ] as const)
    t.match(await served.call('/sync', { trusted: one, ...caller }), { code: 401, body: '{"error":"unauthorized"}' }, reason);
  for (const path of ['/healthz', '/readyz', '/metrics']) t.equal((await served.call(path, { trusted: one })).code, 200, path);
  t.equal(served.app.calls.length, 1);
});

t.test('an administrator replaces certificate, key and authority without a restart', async (t) => {
  const served = await serve(t, one, client);
  const readAgain = () => served.opened.readAgain(served.app.server.log, served.app.renewTls);
  t.equal((await served.call('/sync', { trusted: one, shown: client })).code, 200);

  served.write({ 'tls.crt': other.certificate });
  readAgain();
  t.equal((await served.call('/sync', { trusted: one, shown: client })).code, 200, 'half of a pair is not taken');
  t.match(served.app.lines.at(-1), { level: 40, faults: [/tls\.key: expected the private key of .*tls\.crt in PEM/] });

  served.write({ 'tls.key': other.key, 'ca.crt': stranger.certificate });
  readAgain();
  t.match(served.app.lines.at(-1), { msg: 'reloaded certificates' });
  await t.rejects(served.call('/sync', { trusted: one, shown: stranger }), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
  t.equal((await served.call('/sync', { trusted: other, shown: stranger })).code, 200);
  t.equal((await served.call('/sync', { trusted: other, shown: client })).code, 401, 'whom the former authority knew');
});

t.test('a hook does not start with files that are no certificates, and names the expected format', async (t) => {
  const directory = freeFolder(t);
  const tls = paths(directory);
  t.match(openAccess({ tls }), {
    faults: Object.values(tls).map((path) => `${path}: expected a PEM file, found none that can be read`),
  });
  writeFileSync(tls.certificate, 'hunter2');
  writeFileSync(tls.key, one.key);
  writeFileSync(tls.clientAuthority, 'hunter2');
  const result = openAccess({ tls });
  t.match(result, { faults: [/tls\.crt: expected a certificate in PEM/, /ca\.crt: expected a certificate in PEM/, /tls\.key/] });
  t.notMatch(JSON.stringify(result), /hunter2/);
});
