// Bad answers of a registry or its proxy: the engine refuses each with its own bounded message, and sends no secret elsewhere.
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import { admittedAddress, createResolver, schemeOf } from '../../../server/registry/addresses.ts';
import { readChallenge, readKeychain } from '../../../server/registry/authentication.ts';
import { packageOf, providerYaml, push } from '../../support/registry/builder.ts';
import { startRegistry } from '../../support/registry/process.ts';
import { answering, type Behaviour, passOn, startProxy, where } from '../../support/registry/proxy.ts';
import { dockerConfig, failureOf, objectsOf, openRegistry } from './clients.ts';

const { origin } = await startRegistry(t);
const image = await packageOf(providerYaml('good'));
const { digest } = image.manifest;
await push({ origin, repository: 'acme/p', tag: 'v1.0.0' }, image);
const layer = image.blobs[1]?.digest ?? '';
const secret = 'c4n4ry-of-the-pull-secret';

interface Row {
  readonly name: string;
  readonly behaviour: Behaviour;
  readonly kind: string;
  readonly message: RegExp;
  readonly retryAfterSeconds?: number;
}

const cut: Behaviour = (_asked, answer) => {
  answer.writeHead(200, { 'content-length': '1000' }).write('x');
  setImmediate(() => answer.destroy());
  return true;
};

const endless: Behaviour = (asked, answer) => {
  answer.writeHead(200);
  if (asked.method === 'HEAD') return answer.end() !== undefined;
  const more = (): void => {
    while (!answer.destroyed && answer.write(Buffer.alloc(65_536)));
  };
  answer.on('drain', more);
  more();
  return true;
};

const silent: Behaviour = () => true;

const slow: Behaviour = (_asked, answer) => {
  answer.writeHead(200, { 'content-length': '1000' }).write('x');
  return true;
};

const byteByByte: Behaviour = (_asked, answer) => {
  answer.writeHead(200, { 'content-length': '100000' });
  const more = setInterval(() => answer.write('x'), 50);
  answer.on('close', () => clearInterval(more));
  return true;
};

const blob = /\/blobs\//;
const rows: readonly Row[] = [
  { name: '401', behaviour: answering(401), kind: 'denied', message: /answers 401: no pull secret/ },
  { name: '403', behaviour: answering(403), kind: 'denied', message: /answers 403/ },
  { name: '404', behaviour: answering(404), kind: 'absent', message: /answers 404/ },
  {
    name: '429',
    behaviour: answering(429, { 'retry-after': '17' }),
    kind: 'unavailable',
    message: /answers 429/,
    retryAfterSeconds: 17,
  },
  { name: '500', behaviour: answering(500), kind: 'unavailable', message: /answers 500/ },
  {
    name: '503',
    behaviour: answering(503, { 'retry-after': '999999' }),
    kind: 'unavailable',
    message: /answers 503/,
    retryAfterSeconds: 3_600,
  },
  { name: 'no answer', behaviour: silent, kind: 'unavailable', message: /: no answer in time/ },
  {
    name: 'a layer that stops in the middle',
    behaviour: where(blob, slow),
    kind: 'unavailable',
    message: /: sends fewer than 100 bytes/,
  },
  {
    name: 'a layer byte by byte',
    behaviour: where(blob, byteByByte),
    kind: 'unavailable',
    message: /^127\.0\.0\.1:\d+\/v2\/acme\/p\/blobs\/sha256:[0-9a-f]+: sends fewer than 100 bytes a second$/,
  },
  {
    name: 'a manifest byte by byte',
    behaviour: where(/manifests/, byteByByte),
    kind: 'unavailable',
    message: /: sends fewer than 100 bytes a second$/,
  },
  { name: 'a layer that is cut', behaviour: where(blob, cut), kind: 'unavailable', message: /was cut/ },
  {
    name: 'a layer without end',
    behaviour: where(blob, endless),
    kind: 'invalid',
    message: new RegExp(`${layer} has more than \\d+ bytes`),
  },
  {
    name: 'a manifest without end',
    behaviour: where(/manifests/, endless),
    kind: 'invalid',
    message: /answered with more than 4194304 bytes/,
  },
  {
    name: 'wrong bytes in a layer',
    behaviour: where(blob, answering(200, {}, 'x'.repeat(image.blobs[1]?.bytes.length ?? 0))),
    kind: 'invalid',
    message: /expected content of the digest/,
  },
  {
    name: 'a short layer',
    behaviour: where(blob, answering(200, {}, 'x')),
    kind: 'invalid',
    message: /was announced with \d+ bytes, it has 1/,
  },
  {
    name: 'another manifest',
    behaviour: where(/manifests/, answering(200, {}, '{}')),
    kind: 'invalid',
    message: /expected content of the digest/,
  },
  {
    name: 'a redirect in a circle',
    behaviour: (asked, answer) => answering(302, { location: `${asked.url}` })(asked, answer),
    kind: 'invalid',
    message: /redirects more than 5 times/,
  },
  { name: 'a redirect to nowhere', behaviour: answering(302), kind: 'invalid', message: /redirects to no address/ },
  {
    name: 'a redirect to a file',
    behaviour: answering(302, { location: 'file:///etc/passwd' }),
    kind: 'invalid',
    message: /not safe/,
  },
  {
    name: 'a redirect to the metadata of a cloud',
    behaviour: answering(302, { location: 'http://169.254.169.254/latest' }),
    kind: 'invalid',
    message: /internal address of 169\.254/,
  },
  {
    name: 'a realm that is no address',
    behaviour: answering(401, { 'www-authenticate': 'Bearer realm="x"' }),
    kind: 'invalid',
    message: /no safe token service/,
  },
  {
    name: 'a realm at the metadata of a cloud',
    behaviour: answering(401, { 'www-authenticate': 'Bearer realm="http://169.254.169.254/token"' }),
    kind: 'invalid',
    message: /internal address/,
  },
];

for (const row of rows)
  t.test(row.name, async (t) => {
    const proxy = await startProxy(t, origin);
    proxy.act(row.behaviour);
    const pace = { bytesPerSecond: 100, ms: 700 };
    // Only a registry that is too slow needs a short time: a loaded machine reads 4 MiB in more than a second.
    const requestTimeout = row.kind === 'unavailable' ? 1_000 : 30_000;
    const opening = { requestTimeout, pace, pullSecrets: [dockerConfig('elsewhere.example.org', 'me', secret)] };
    const registry = openRegistry(t, opening);
    const failure = await objectsOf(registry, `${proxy.host}/acme/p`, digest);
    t.match(failure, { kind: row.kind, message: row.message });
    t.equal('retryAfterSeconds' in failure ? failure.retryAfterSeconds : undefined, row.retryAfterSeconds);
    t.ok(JSON.stringify(failure).includes(proxy.host), 'it names the registry');
    t.notMatch(JSON.stringify(failure), secret);
    t.same(
      registry.cached().filter((name) => name.includes('unfinished')),
      [],
      'nothing half is left',
    );
    proxy.act(passOn);
    t.match(
      await objectsOf(openRegistry(t, { cacheDirectory: registry.directory }), `${proxy.host}/acme/p`, digest),
      [{ metadata: { name: 'good' } }],
      'and later it is read',
    );
  });

t.test('the engine refuses a head that lies about the digest', async (t) => {
  const proxy = await startProxy(t, origin);
  proxy.act(
    (asked, answer) =>
      asked.method === 'HEAD' && answering(200, { 'docker-content-digest': `sha256:${'0'.repeat(64)}` })(asked, answer),
  );
  const reference = { source: `${proxy.host}/acme/p`, version: 'v1.0.0' };
  const registry = openRegistry(t);
  t.same(await registry.digest(reference), { kind: 'ok', digest }, 'the first time it is fetched, and computed');
  t.match(await registry.digest(reference), { digest: /^sha256:0+$/ });
  t.match(await objectsOf(registry, reference.source, `sha256:${'0'.repeat(64)}`), { kind: 'absent' });
  proxy.act((asked, answer) => asked.method === 'HEAD' && answering(200)(asked, answer));
  t.same(await registry.digest(reference), { kind: 'ok', digest }, 'one that says none is not needed');
});

t.test('the engine refuses tags without end', async (t) => {
  const proxy = await startProxy(t, origin);
  const answerOf = async (behaviour: Behaviour) => {
    proxy.act(behaviour);
    return failureOf(await openRegistry(t, { requestTimeoutMs: 5_000 }).tags(`${proxy.host}/acme/p`));
  };
  const page = (link: (count: number) => string, body: (count: number) => string): Behaviour => {
    let count = 0;
    return (asked, answer) => {
      count += 1;
      return answering(200, { link: `<${link(count)}>; rel="next"` }, body(count))(asked, answer);
    };
  };
  t.match(
    await answerOf(
      page(
        () => '/v2/acme/p/tags/list?n=1',
        () => '{"tags":[]}',
      ),
    ),
    { kind: 'invalid', message: /in a circle/ },
  );
  t.match(
    await answerOf(
      page(
        (count) => `?last=${count}`,
        () => '{"tags":["a"]}',
      ),
    ),
    { kind: 'invalid', message: /more than 1000 pages/ },
  );
  const billion = (count: number): string =>
    JSON.stringify({ tags: Array.from({ length: 40_000 }, (_, index) => `v${count}.${index}.0`) });
  t.match(await answerOf(page((count) => `?last=${count}`, billion)), { kind: 'invalid', message: /more than 100000 tags/ });
  t.match(await answerOf(endless), { kind: 'invalid', message: /more than 4194304 bytes/ });
  t.match(
    await answerOf(
      page(
        () => 'http://169.254.169.254/v2/acme/p/tags/list',
        () => '{"tags":[]}',
      ),
    ),
    { kind: 'invalid', message: /no page of them/ },
  );
  t.match(
    await answerOf(
      page(
        () => '/v2/other/tags/list',
        () => '{"tags":[]}',
      ),
    ),
    { kind: 'invalid', message: /no page of them/ },
  );
  t.match(await answerOf(answering(200, {}, '<html>')), { kind: 'invalid', message: /no JSON/ });
});

t.test('Basic: the secret goes to its registry, and nowhere else', async (t) => {
  const htpasswd = join(mkdtempSync(join(tmpdir(), 'janus-htpasswd-')), 'users');
  t.teardown(() => rmSync(join(htpasswd, '..'), { recursive: true }));
  // me:let-me-in, by bcrypt.
  writeFileSync(htpasswd, 'me:$2b$04$abcdefghijklmnopqrstuudxA/1BY5FxPYA69jUrJOJFmTyoe9T1a\n');
  const closed = await startRegistry(t, { auth: { htpasswd: { realm: 'of-tests', path: htpasswd } } });
  const elsewhere = await startProxy(t, origin, '127.0.0.2');
  const proxy = await startProxy(t, closed.origin);
  const source = `${proxy.host}/acme/p`;
  const withSecret = (password: string) =>
    openRegistry(t, { pullSecrets: ['not json', dockerConfig(proxy.host, 'me', password)] });
  await push(
    {
      origin: closed.origin,
      repository: 'acme/p',
      tag: 'v1.0.0',
      authorization: `Basic ${Buffer.from('me:let-me-in').toString('base64')}`,
    },
    image,
  );
  t.match(await objectsOf(openRegistry(t), source, digest), { kind: 'denied', message: /no pull secret is for it/ });
  const wrong = await objectsOf(withSecret(secret), source, digest);
  t.match(wrong, { kind: 'denied', message: /answers 401: the pull secret gives no right/ });
  t.notMatch(JSON.stringify(wrong), secret);
  t.match(await objectsOf(withSecret('let-me-in'), source, digest), [{ metadata: { name: 'good' } }]);
  proxy.act(where(blob, (asked, answer) => answering(307, { location: `${elsewhere.origin}${asked.url}` })(asked, answer)));
  t.match(await objectsOf(withSecret('let-me-in'), source, digest), [{ metadata: { name: 'good' } }], 'a redirect is followed');
  t.equal(elsewhere.seen.length, 1);
  t.same(
    elsewhere.seen.map(({ authorization }) => authorization),
    [undefined],
    'without the secret',
  );
});

t.test('Bearer: the secret goes to the token service, the token to the registry', async (t) => {
  const tokens = await startProxy(t);
  const elsewhere = await startProxy(t, origin, '127.0.0.2');
  const proxy = await startProxy(t, origin);
  tokens.act(answering(200, {}, JSON.stringify({ token: 'a-token' })));
  const challenge = answering(401, {
    'www-authenticate': `Bearer realm="${tokens.origin}/token",service="here",scope="repository:acme/p:push,delete"`,
  });
  proxy.act((asked, answer) => {
    if (asked.headers.authorization !== 'Bearer a-token') return challenge(asked, answer);
    delete asked.headers.authorization;
    return where(blob, answering(307, { location: `${elsewhere.origin}${asked.url}` }))(asked, answer);
  });
  const registry = openRegistry(t, { pullSecrets: [dockerConfig(proxy.host, 'me', 'let-me-in')] });
  t.match(await objectsOf(registry, `${proxy.host}/acme/p`, digest), [{ metadata: { name: 'good' } }]);
  t.same(
    tokens.seen.map(({ path }) => path),
    ['/token?service=here&scope=repository%3Aacme%2Fp%3Apull'],
    'once, and for no more than to pull',
  );
  t.equal(tokens.seen[0]?.authorization, `Basic ${Buffer.from('me:let-me-in').toString('base64')}`);
  t.same(
    elsewhere.seen.map(({ authorization }) => authorization),
    [undefined],
  );
  tokens.act(answering(200, {}, JSON.stringify({ token: 'a\r\ntoken' })));
  t.match(await objectsOf(openRegistry(t), `${proxy.host}/acme/p`, digest), { kind: 'unavailable', message: /gave no token/ });
  tokens.act(answering(302, { location: `${elsewhere.origin}/token` }));
  t.match(
    await objectsOf(openRegistry(t), `${proxy.host}/acme/p`, digest),
    { kind: 'unavailable' },
    'a token service that redirects is not followed',
  );
});

t.test('a challenge of a host that the registry redirects to gets no secret', async (t) => {
  const [tokens, elsewhere, proxy] = [await startProxy(t), await startProxy(t, origin, '127.0.0.2'), await startProxy(t, origin)];
  tokens.act(answering(200, {}, JSON.stringify({ token: 'a-token' })));
  proxy.act(where(blob, (asked, answer) => answering(307, { location: `${elsewhere.origin}${asked.url}` })(asked, answer)));
  for (const challenge of [`Bearer realm="${tokens.origin}/token",service="x"`, 'Basic realm="x"']) {
    elsewhere.act(answering(401, { 'www-authenticate': challenge }));
    const registry = openRegistry(t, { pullSecrets: [dockerConfig(proxy.host, 'me', secret)] });
    t.match(await objectsOf(registry, `${proxy.host}/acme/p`, digest), { kind: 'denied' });
  }
  t.same(tokens.seen, [], 'its token service is not asked');
  const all = [...elsewhere.seen, ...proxy.seen];
  t.ok(all.length > 0 && all.every(({ authorization }) => authorization === undefined), 'no host gets the secret');
});

t.test('a token that expires within a call is replaced once', async (t) => {
  const [tokens, proxy] = [await startProxy(t), await startProxy(t, origin)];
  let [given, valid] = [0, ''];
  tokens.act((asked, answer) => {
    given += 1;
    valid = `token-${given}`;
    return answering(200, {}, JSON.stringify({ token: valid }))(asked, answer);
  });
  proxy.act((asked, answer) => {
    if (valid !== '' && asked.headers.authorization === `Bearer ${valid}`) {
      delete asked.headers.authorization;
      return false;
    }
    return answering(401, { 'www-authenticate': `Bearer realm="${tokens.origin}/token"` })(asked, answer);
  });
  const registry = openRegistry(t);
  const source = `${proxy.host}/acme/p`;
  t.match(await registry.tags(source), { kind: 'ok' });
  valid = 'none';
  t.match(await registry.tags(source), { kind: 'ok' });
  t.equal(given, 2);
  valid = 'none';
  tokens.act(answering(200, {}, JSON.stringify({ token: 'never-valid' })));
  const from = proxy.seen.length;
  t.match(failureOf(await registry.tags(source)), { kind: 'denied' });
  t.equal(proxy.seen.length, from + 2, 'once');
  tokens.act(answering(404));
  const failure = failureOf(await openRegistry(t).tags(source));
  t.match(
    failure,
    { kind: 'unavailable', message: /the token service of the registry answers 404/ },
    'it is no missing repository',
  );
});

t.test('the engine does not use the content of one repository for another, whatever digest the other reports', async (t) => {
  const [proxy, evil] = [await startProxy(t, origin), await startProxy(t)];
  const registry = openRegistry(t);
  t.match(await objectsOf(registry, `${proxy.host}/acme/p`, digest), [{ metadata: { name: 'good' } }]);
  evil.act((asked, answer) => asked.method === 'HEAD' && answering(200, { 'docker-content-digest': digest })(asked, answer));
  t.match(await objectsOf(registry, `${evil.host}/acme/p`, digest), { kind: 'absent' }, 'neither its manifest');
  evil.act(where(/manifests/, answering(200, {}, image.manifest.bytes.toString())));
  t.match(await objectsOf(registry, `${evil.host}/acme/p`, digest), { kind: 'absent' }, 'nor its layers');
});

t.test('the engine reports a registry that does not listen', async (t) => {
  const message = async (source: string) => failureOf(await openRegistry(t, { requestTimeoutMs: 2_000 }).tags(source));
  t.match(await message('127.0.0.1:1/acme/p'), {
    kind: 'unavailable',
    message: /^127.0.0.1:1\/v2\/acme\/p\/tags\/list: the connection is refused$/,
  });
  t.match(await message('registry.invalid/acme/p'), {
    kind: 'unavailable',
    message: /^registry.invalid\/.*: the host is not known$/,
  });
  const plain = await startProxy(t, undefined, '127.0.0.3');
  t.match(
    await message(`${plain.host}/acme/p`),
    { kind: 'unavailable', message: /no trusted TLS|cut/ },
    'HTTPS is spoken to other hosts',
  );
});

t.test('a call ends by its deadline', async (t) => {
  const proxy = await startProxy(t);
  proxy.act(silent);
  const started = performance.now();
  t.match(failureOf(await openRegistry(t, { deadline: 300, requestTimeoutMs: 60_000 }).tags(`${proxy.host}/acme/p`)), {
    kind: 'unavailable',
    message: /no answer in time/,
  });
  t.ok(performance.now() - started < 30_000);
});

t.test('the cache survives spoilt, surplus, stale and shared files', async (t) => {
  const proxy = await startProxy(t, origin);
  const registry = openRegistry(t);
  const source = `${proxy.host}/acme/p`;
  await objectsOf(registry, source, digest);
  const file = join(registry.directory, registry.cached().find((name) => name.startsWith(layer.replace(':', '-'))) ?? '');
  const whole = readFileSync(file);
  for (const spoilt of [whole.subarray(0, 20), Buffer.alloc(whole.length), gzipSync('x')]) {
    writeFileSync(file, spoilt);
    t.match(await objectsOf(openRegistry(t, { cacheDirectory: registry.directory }), source, digest), [
      { metadata: { name: 'good' } },
    ]);
    t.equal(createHash('sha256').update(readFileSync(file)).digest('hex'), layer.slice(7), 'it is whole again');
  }
  const crowded = openRegistry(t, { cacheBytes: 1 });
  t.match(await objectsOf(crowded, source, digest), [{ metadata: { name: 'good' } }]);
  t.ok(crowded.cached().length <= 1, 'the cache drops unused blobs');
  const shared = mkdtempSync(join(tmpdir(), 'janus-shared-'));
  const both = await Promise.all(
    Array.from({ length: 6 }, () => objectsOf(openRegistry(t, { cacheDirectory: shared }), source, digest)),
  );
  t.ok(both.every(Array.isArray), 'six clients write one blob at once');
});

t.test('a registry may lead only to allowed hosts', async (t) => {
  const admitted = (address: string, registry: string) => () => admittedAddress('host', [address], [registry]);
  const embedded = ['::ffff:10.0.0.1', '::10.0.0.1', '64:ff9b::a00:1', '2002:a00:1::'];
  for (const address of ['10.0.0.1', '192.168.1.1', '172.16.0.1', '198.18.0.1', 'fc00::1', 'fec0::1', ...embedded]) {
    t.throws(admitted(address, '203.0.113.1'), /internal address/, `${address} from outside`);
    t.equal(admitted(address, '10.9.9.9')(), address, `${address} from inside`);
    t.equal(admitted(address, '127.0.0.1')(), address, `${address} from this machine`);
  }
  for (const address of ['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1', '::ffff:7f00:1', '::7f00:1', '64:ff9b::7f00:1']) {
    t.throws(admitted(address, '203.0.113.1'), /internal address/, `${address} from outside`);
    t.throws(admitted(address, '10.9.9.9'), /internal address/, `${address} from inside`);
    t.equal(admitted(address, '::1')(), address, `${address} from this machine`);
  }
  const both = ['10.9.9.9', '203.0.113.1'];
  t.throws(() => admittedAddress('host', ['10.0.0.1'], both), /internal address/, 'a registry with an address outside too');
  t.throws(() => admittedAddress('host', both, ['203.0.113.1']), /internal address/, 'a host with an address inside too');
  t.throws(() => admittedAddress('host', ['10.0.0.1'], []), /internal address/, 'a registry with no address');
  const metadata = [
    '169.254.169.254',
    '192.0.0.192',
    '168.63.129.16',
    '::ffff:169.254.169.254',
    '64:ff9b::a9fe:a9fe',
    '2002:a9fe:a9fe::1',
    '::ffff:0:a9fe:a9fe',
    '100.100.100.200',
    'fd20:ce::254',
  ];
  const reserved = ['224.0.0.1', '255.255.255.255', 'ff02::1', '2001::a9fe:a9fe'];
  for (const address of ['0.0.0.0', 'fe80::1', 'fe80::1%eth0', '::', '64:ff9b:1::1', ...metadata, ...reserved])
    t.throws(admitted(address, '127.0.0.1'), /internal address/, address);
  for (const address of ['198.51.100.7', '64:ff9b::c633:6407', '2001:db8::7'])
    t.equal(admitted(address, '203.0.113.1')(), address, `${address} is everybody's`);
  const plain = ['localhost:5000', '127.0.0.1:5000', '[::1]:5000'];
  t.same(
    plain.map((host) => schemeOf(host)),
    plain.map(() => 'http'),
  );
  const others = ['10.0.0.1:5000', 'registry.example.org', 'local.example.org', '127.0.0.2', 'registry.local'];
  for (const host of [...others, 'prometheus.monitoring.svc.cluster.local:9090']) t.equal(schemeOf(host), 'https', host);
});

t.test('plain HTTP is spoken to hosts that are listed, with their port', async (t) => {
  const manifest = '{"schemaVersion":2,"layers":[]}';
  const digest = `sha256:${createHash('sha256').update(manifest).digest('hex')}`;
  const server = createServer((_, answer) => answer.end(manifest));
  await new Promise<void>((done) => server.listen(0, '127.0.0.2', done));
  t.teardown(() => server.close());
  const host = `127.0.0.2:${(server.address() as AddressInfo).port}`;
  const reference = { source: `${host}/acme/name`, version: 'v1.0.0' };
  t.match(await openRegistry(t, { httpHosts: [host] }).digest(reference), { kind: 'ok', digest });
  for (const httpHosts of [[], ['127.0.0.2'], [`${host}0`]]) {
    const failure = failureOf(await openRegistry(t, { httpHosts }).digest(reference));
    t.match(failure, { kind: 'unavailable', message: /127\.0\.0\.2/ });
  }
});

t.test('a call looks up each name once, and not beyond its time', async (t) => {
  const over = new AbortController();
  const looked: string[] = [];
  const unanswered = new Promise<readonly string[]>(() => undefined);
  const resolve = createResolver(over.signal, async (name) => {
    looked.push(name);
    if (name === 'silent') return unanswered;
    if (name === 'unknown') throw new Error('not known');
    return ['203.0.113.1'];
  });
  t.same(await Promise.all([resolve('known'), resolve('known')]), [['203.0.113.1'], ['203.0.113.1']]);
  for (let time = 0; time < 2; time += 1) await t.rejects(resolve('unknown'), /not known/);
  t.same(await resolve('[::1]'), ['::1']);
  const waiting = Promise.allSettled([resolve('silent'), resolve('silent')]);
  over.abort();
  const late = { message: /was not looked up in time/, failure: { kind: 'unavailable' } };
  t.match(await waiting, [{ reason: late }, { reason: late }]);
  await t.rejects(resolve('another'), late);
  t.same(looked, ['known', 'unknown', 'silent']);
});

t.test('the engine parses few packages at once, whatever a tree requires', async (t) => {
  const filling = (name: string): string => {
    const one = (index: number) =>
      `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}-${index}}\ndata: {a: ${'x'.repeat(70_000)}}\n`;
    return [providerYaml(name), one(1), one(2), one(3)].join('---\n');
  };
  const names = ['one', 'two', 'three', 'four', 'five', 'six'];
  const packages = await Promise.all(names.map((name) => packageOf(filling(name))));
  for (const one of packages) await push({ origin, repository: 'acme/parsed', tag: 'v1.0.0' }, one);
  const registry = openRegistry(t);
  const source = `${new URL(origin).host}/acme/parsed`;
  const under = new Set<string>();
  let most = 0;
  const read = async ({ manifest }: (typeof packages)[number]): Promise<void> => {
    const take = (): void => {
      under.add(manifest.digest);
      most = Math.max(most, under.size);
    };
    const answer = await registry.read(source, manifest.digest, take);
    under.delete(manifest.digest);
    t.equal(answer.kind, 'ok', JSON.stringify(answer));
  };
  await Promise.all(packages.map(read));
  t.ok(most > 0 && most <= 2, `${most} at a time`);
});

t.test('the engine asks for dependencies only at hosts that the registry of the root may lead to', async (t) => {
  const proxy = await startProxy(t, origin);
  const tagsFor = (root: string, source: string) => openRegistry(t, { root }).tags(source);
  const inside = { failure: { kind: 'invalid', message: /internal address of/ } };
  t.match(await tagsFor('203.0.113.1/acme/root', `${proxy.host}/acme/p`), inside);
  t.match(await tagsFor('10.9.9.9/acme/root', `${proxy.host}/acme/p`), inside);
  t.match(await tagsFor('203.0.113.1/acme/root', '10.0.0.1/acme/p'), inside);
  t.match(await tagsFor(`${proxy.host}/acme/root`, '169.254.169.254/acme/p'), inside, 'metadata: never');
  t.same(proxy.seen, []);
  t.match(await tagsFor(`${proxy.host}/acme/root`, `${proxy.host}/acme/p`), { kind: 'ok' }, 'the registry of the root');
  t.match(await tagsFor(`${new URL(origin).host}/acme/root`, `${proxy.host}/acme/p`), { kind: 'ok' }, 'one beside it');
  const redirecting = await startProxy(t);
  redirecting.act((asked, answer) => answering(307, { location: `${proxy.origin}${asked.url}` })(asked, answer));
  t.match(await tagsFor(`${redirecting.host}/acme/root`, `${redirecting.host}/acme/p`), { kind: 'ok' });
});

t.test('the engine reads pull secrets', async (t) => {
  const auths = {
    'a.example.org': { username: 'host', password: '1' },
    'https://a.example.org/acme': { username: 'path', password: '2' },
    'https://index.docker.io/v1/': { auth: Buffer.from('hub:x:y').toString('base64') },
  };
  const keychain = readKeychain(['{', '[]', '{"auths":[1]}', JSON.stringify({ auths })]);
  t.equal(keychain('a.example.org/other/p')?.username, 'host');
  t.equal(keychain('a.example.org/acme/p')?.username, 'path', 'the longest name');
  t.equal(keychain('a.example.org/acmeother/p')?.username, 'host');
  t.equal(keychain('a.example.org.evil.example/acme/p'), undefined);
  t.same(keychain('index.docker.io/acme/p'), { username: 'hub', password: 'x:y' });
  t.same(readChallenge('Basic realm="x"'), { kind: 'basic' });
  t.match(readChallenge('Basic realm="x", Bearer realm="https://t",service="s"'), {
    kind: 'bearer',
    realm: 'https://t',
    parameters: { service: 's' },
  });
  t.equal(readChallenge('Negotiate'), undefined);
  const hub = ['https://index.docker.io/v1/', 'index.docker.io', 'docker.io', 'registry-1.docker.io'];
  for (const key of hub)
    for (const host of hub.slice(1))
      t.equal(readKeychain([dockerConfig(key, 'hub', 'x')])(`${host}/acme/p`)?.username, 'hub', `${key} for ${host}`);
  t.equal(readKeychain([dockerConfig('docker.io', 'hub', 'x')])('index.docker.io.evil.example/acme/p'), undefined);
});
