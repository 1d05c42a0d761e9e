// Bearer tokens as the Distribution project's own registry requires them: signed, for one repository, for what was asked.
import { generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import { join } from 'node:path';
import t from 'tap';
import { packageOf, providerYaml, push } from '../../support/registry/builder.ts';
import { startRegistry } from '../../support/registry/process.ts';
import { startProxy } from '../../support/registry/proxy.ts';
import { dockerConfig, failureOf, objectsOf, openRegistry } from './clients.ts';

const [service, issuer, kid] = ['registry-of-tests', 'tokens-of-tests', 'first'];
const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const readers: Readonly<Record<string, readonly string[]>> = { me: ['acme/private', 'acme/other'], you: ['acme/other'] };

/** A token for these actions on one repository, until so many seconds from now. */
function tokenFor(repository: string, actions: readonly string[], seconds = 60): string {
  const now = Math.floor(Date.now() / 1000);
  const access = actions.length === 0 ? [] : [{ type: 'repository', name: repository, actions }];
  const claims = { iss: issuer, sub: '', aud: service, exp: now + seconds, nbf: now - 1, iat: now, jti: randomUUID(), access };
  const body = [{ typ: 'JWT', alg: 'ES256', kid }, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'));
  const signature = sign('sha256', Buffer.from(body.join('.')), { key: privateKey, dsaEncoding: 'ieee-p1363' });
  return [...body, signature.toString('base64url')].join('.');
}

t.test('the engine reads from a registry with tokens', async (t) => {
  const tokens = await startProxy(t);
  tokens.act((asked, answer) => {
    const [, repository = '', actions = ''] = (new URL(asked.url ?? '', tokens.origin).searchParams.get('scope') ?? '').split(
      ':',
    );
    const [, encoded = ''] = (asked.headers.authorization ?? '').split(' ');
    const [user = '', password] = Buffer.from(encoded, 'base64').toString().split(':');
    const may = password === `of-${user}` && (readers[user] ?? []).includes(repository) ? ['pull'] : [];
    const granted = actions.split(',').filter((action) => may.includes(action));
    answer.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ token: tokenFor(repository, granted) }));
    return true;
  });
  const jwks = join(
    t.testdir({ jwks: JSON.stringify({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid, use: 'sig', alg: 'ES256' }] }) }),
    'jwks',
  );
  const auth = { token: { realm: `${tokens.origin}/token`, service, issuer, jwks } };
  const { origin, host } = await startRegistry(t, { auth });
  const source = (repository: string): string => `${host}/${repository}`;
  const digests = Object.fromEntries(
    await Promise.all(
      ['acme/private', 'acme/other'].map(async (repository) => {
        const authorization = `Bearer ${tokenFor(repository, ['pull', 'push'])}`;
        const image = await packageOf(providerYaml(repository.replace('/', '-')));
        return [repository, await push({ origin, repository, tag: 'v1.0.0', authorization }, image)];
      }),
    ),
  );
  const reader = (user: string) => openRegistry(t, { pullSecrets: [dockerConfig(host, user, `of-${user}`)] });

  await t.test('the registry admits a user who may read', async (t) => {
    const registry = reader('me');
    tokens.seen.length = 0;
    for (const repository of ['acme/private', 'acme/other']) {
      const digest = digests[repository] ?? '';
      t.same(await registry.tags(source(repository)), { kind: 'ok', tags: ['v1.0.0'] });
      t.same(await registry.digest({ source: source(repository), version: 'v1.0.0' }), { kind: 'ok', digest });
      t.match(await objectsOf(registry, source(repository), digest), [{ metadata: { name: repository.replace('/', '-') } }]);
    }
    t.same(
      tokens.seen.map(({ path }) => path),
      ['private', 'other'].map((name) => `/token?service=${service}&scope=repository%3Aacme%2F${name}%3Apull`),
      'one token for each repository, for no more than to pull',
    );
  });

  await t.test('the registry refuses users without the right, with another password, and with none', async (t) => {
    t.match(await reader('you').tags(source('acme/other')), { kind: 'ok' });
    for (const registry of [
      reader('you'),
      openRegistry(t, { pullSecrets: [dockerConfig(host, 'me', 'of-you')] }),
      openRegistry(t),
    ]) {
      const failure = failureOf(await registry.tags(source('acme/private')));
      t.match(failure, { kind: 'denied', message: new RegExp(`^${source('acme/private')}: `) });
      t.notMatch(failure.message, /of-you|of-me|eyJ/, 'neither secret nor token');
    }
  });

  await t.test('a token that is too old is refused, and says nothing of itself', async (t) => {
    tokens.act((_asked, answer) => {
      answer.writeHead(200).end(JSON.stringify({ access_token: tokenFor('acme/private', ['pull'], -600) }));
      return true;
    });
    const failure = failureOf(await reader('me').tags(source('acme/private')));
    t.equal(failure.kind, 'denied');
    t.notMatch(failure.message, /eyJ/);
  });
});
