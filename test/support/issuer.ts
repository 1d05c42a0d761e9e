// A small issuer of OpenID Connect tokens: discovery, keys, and the refresh of tokens; no user can log in.
import { createSign, generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { type Certificate, makeCertificate } from './certificate.ts';
import type { Teardown } from './client.ts';

interface Issuer {
  readonly url: string;
  readonly certificate: Certificate;
  /** A token for that subject, valid from now for so many seconds; fewer than none: it has expired. */
  token(subject: string, seconds: number): string;
  /** Refresh tokens that were accepted, so far. */
  readonly refreshed: readonly string[];
}

export const clientId = 'janus-cli';

/** `subject`: whom refreshed tokens are for. */
export async function startIssuer(t: Teardown, subject: string): Promise<Issuer> {
  const certificate = makeCertificate();
  const keys = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const refreshed: string[] = [];
  let url = '';
  const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const token: Issuer['token'] = (sub, seconds) => {
    const now = Math.floor(Date.now() / 1000);
    const claims = { iss: url, aud: clientId, sub, iat: now - 60, exp: now + seconds };
    const signed = `${part({ alg: 'RS256', kid: 'one' })}.${part(claims)}`;
    return `${signed}.${createSign('sha256').update(signed).sign(keys.privateKey).toString('base64url')}`;
  };
  const answers: Readonly<Record<string, (body: string) => unknown>> = {
    '/.well-known/openid-configuration': () => ({
      issuer: url,
      jwks_uri: `${url}/keys`,
      token_endpoint: `${url}/token`,
      authorization_endpoint: `${url}/none`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256'],
    }),
    '/keys': () => ({ keys: [{ ...keys.publicKey.export({ format: 'jwk' }), kid: 'one', alg: 'RS256', use: 'sig' }] }),
    '/token': (body) => {
      refreshed.push(new URLSearchParams(body).get('refresh_token') ?? '');
      const id = token(subject, 600);
      return { access_token: 'none', token_type: 'Bearer', id_token: id, refresh_token: 'next', expires_in: 600 };
    },
  };
  const server = createServer({ cert: certificate.certificate, key: certificate.key }, async (request, response) => {
    const answer = answers[request.url ?? '']?.(await text(request));
    response
      .writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/json' })
      .end(JSON.stringify(answer ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, certificate, token, refreshed };
}
