// Signatures in real registries: where the client finds them, what it makes of wrong ones, and how it reaches registries that have an
// authority of their own, or that only a proxy reaches.
import { once } from 'node:events';
import { createServer as createHttpServer, request as httpRequest, type IncomingMessage } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, connect as connectTcp } from 'node:net';
import t from 'tap';
import type { SigningAuthority } from '../../../hooks/crossplane/model/signing-authority.ts';
import { makeCertificate } from '../../support/certificate.ts';
import type { Teardown } from '../../support/client.ts';
import { packageOf, providerYaml, push } from '../../support/registry/builder.ts';
import { startRegistry } from '../../support/registry/process.ts';
import { answering, passOn, startProxy, where } from '../../support/registry/proxy.ts';
import { pushBundles, pushSigned } from '../../support/registry/signatures.ts';
import { attest, bundleOf, createSigstore, imageSigned, keyPair, keySigner, pemOf, signText } from '../../support/sigstore.ts';
import { dockerConfig, failureOf, openRegistry } from './clients.ts';

const { origin } = await startRegistry(t);
const proxy = await startProxy(t, origin);
const [ours, theirs] = [keyPair(), keyPair()];
const [byUs, byThem] = [keySigner(ours), keySigner(theirs)];
const sigstore = createSigstore();
const person = { subject: 'https://ci.example.org/release', issuer: 'https://accounts.example.org' };
const sbom = 'https://spdx.dev/Document';
const byKey: SigningAuthority = {
  kind: 'key',
  name: 'ours',
  attestations: [],
  hashAlgorithm: 'sha256',
  publicKey: pemOf(ours.publicKey),
};
const attested: SigningAuthority = { ...byKey, name: 'sbom', attestations: [sbom] };
const identities = [{ subject: { text: person.subject }, issuer: { text: person.issuer } }];
const byCi: SigningAuthority = { kind: 'keyless', name: 'ci', attestations: [], identities, ignoresTransparency: false };

let count = 0;
const publish = async () => {
  count += 1;
  const repository = `acme/image-${count}`;
  const digest = await push({ origin, repository, tag: 'v1.0.0' }, await packageOf(providerYaml('one')));
  const ask = (authorities: readonly SigningAuthority[], trustedRoot: string | undefined = sigstore.trustedRoot) =>
    openRegistry(t).signed({ source: `${proxy.host}/${repository}`, digest, authorities, trustedRoot });
  return { place: { origin, repository, digest }, digest, ask };
};

t.test('a signature below its tag, by a key', async (t) => {
  const { place, digest, ask } = await publish();
  t.same(await ask([byKey]), { kind: 'unsigned', why: ['authority "ours": no valid signature'] });
  await pushSigned(place, [signText(digest, byThem)]);
  t.match(await ask([byKey]), {
    kind: 'unsigned',
    why: [/authority "ours": no valid signature \(it is not valid: SIGNATURE_ERROR\)/],
  });
  await pushSigned(place, [signText(digest, byThem), signText(digest, byUs)]);
  proxy.seen.length = 0;
  t.same(await ask([byKey]), { kind: 'ok' });
  t.notOk(
    proxy.seen.some(({ path }) => path.includes('/referrers/')),
    'no other form is requested',
  );
  t.same(await ask([byCi, byKey]), { kind: 'ok' }, 'one authority of two is enough');
});

t.test('a signature below its tag, by a certificate', async (t) => {
  const { place, digest, ask } = await publish();
  await pushSigned(place, [signText(digest, sigstore.signer(person))]);
  t.same(await ask([byCi]), { kind: 'ok' });
  t.match(await ask([byCi], createSigstore().trustedRoot), { kind: 'unsigned', why: [/authority "ci"/] });
});

t.test('an attestation below its tag', async (t) => {
  const { place, digest, ask } = await publish();
  await pushSigned(place, [signText(digest, byUs)]);
  t.match(await ask([attested]), { kind: 'unsigned', why: [/no valid attestation/] }, 'a signature is no attestation');
  await pushSigned(place, [attest(digest, sbom, byUs)], 'att');
  t.same(await ask([attested]), { kind: 'ok' });
});

t.test('a bundle that refers to the image, if the registry has no list of bundles', async (t) => {
  const { place, digest, ask } = await publish();
  await pushBundles(place, [bundleOf(digest, sbom, byUs), bundleOf(digest, imageSigned, sigstore.signer(person))]);
  t.same(await ask([byCi]), { kind: 'ok' });
  t.same(await ask([attested]), { kind: 'ok' });
  t.match(await ask([byKey]), { kind: 'unsigned' });
});

t.test('a bundle that refers to the image, if the registry lists bundles', async (t) => {
  const { place, digest, ask } = await publish();
  await pushBundles(place, [bundleOf(digest, imageSigned, byUs)]);
  const list = await fetch(`${origin}/v2/${place.repository}/manifests/${digest.replace(':', '-')}`, {
    headers: { accept: 'application/vnd.oci.image.index.v1+json' },
  });
  const index = await list.text();
  proxy.seen.length = 0;
  proxy.act(where(/\/referrers\//, answering(200, { 'content-type': 'application/vnd.oci.image.index.v1+json' }, index)));
  t.same(await ask([byKey]), { kind: 'ok' });
  proxy.act(passOn);
  t.notOk(
    proxy.seen.some(({ path }) => path.endsWith(digest.replace(':', '-'))),
    'the tag is not requested',
  );
});

t.test('a registry that lies about signatures, or does not answer', async (t) => {
  const { place, digest, ask } = await publish();
  await pushSigned(place, [signText(digest, byUs)]);
  const many = JSON.stringify({ layers: Array.from({ length: 65 }, () => ({ mediaType: 'x', digest, size: 1 })) });
  const large = JSON.stringify({
    layers: [{ mediaType: 'application/vnd.dev.cosign.simplesigning.v1+json', digest, size: 17 * 2 ** 20 }],
  });
  const unnamed = JSON.stringify({
    layers: [{ mediaType: 'application/vnd.dev.cosign.simplesigning.v1+json', digest: 'x', size: 1 }],
  });
  for (const [pattern, code, body, kind, message] of [
    [/\.sig$/, 200, 'no', 'invalid', /its list of signatures is no JSON/],
    [/\.sig$/, 200, many, 'invalid', /has 65 signatures, at most 64 are read/],
    [/\.sig$/, 200, large, 'invalid', /its signatures have more than \d+ bytes/],
    [/\.sig$/, 200, unnamed, 'invalid', /names content by something else than a digest/],
    [/\/blobs\//, 200, '{}', 'invalid', /expected a signature of the digest sha256:\w+, found sha256/],
    [/\/blobs\//, 404, '', 'invalid', /its signature sha256:\w+ does not exist/],
    [/\.sig$/, 503, '', 'unavailable', /answers 503/],
    [/\.sig$/, 403, '', 'denied', /answers 403/],
  ] as const) {
    proxy.act(where(pattern, answering(code, {}, body)));
    const failure = failureOf(await ask([byKey]));
    t.match(failure, { kind, message }, String(message));
  }
  proxy.act(passOn);
  t.same(await ask([byKey]), { kind: 'ok' });
});

/** A server that passes requests on to the registry, by HTTPS. */
async function startTls(t: Teardown, address: string): Promise<{ readonly host: string; readonly authority: string }> {
  const { certificate, key } = makeCertificate(address);
  const server = createHttpsServer({ cert: certificate, key }, (asked, answer) => {
    const onward = httpRequest(`${origin}${asked.url}`, { method: asked.method, headers: asked.headers }, (reply) => {
      answer.writeHead(reply.statusCode ?? 500, reply.headers);
      reply.pipe(answer);
    });
    asked.pipe(onward);
  });
  server.listen(0, address);
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return { host: `${address}:${(server.address() as AddressInfo).port}`, authority: certificate };
}

t.test('a registry with an authority of its own', async (t) => {
  const { place, digest } = await publish();
  // The hook speaks HTTP to 127.0.0.1.
  const { host, authority } = await startTls(t, '127.0.0.2');
  const reference = { source: `${host}/${place.repository}`, version: 'v1.0.0' };
  t.same(await openRegistry(t, { authority }).digest(reference), { kind: 'ok', digest });
  const untrusted = failureOf(await openRegistry(t).digest(reference));
  t.match(untrusted, { kind: 'unavailable', message: /no trusted TLS connection/ });
  t.match(failureOf(await openRegistry(t, { authority: makeCertificate('127.0.0.2').certificate }).digest(reference)), untrusted);
  for (const pem of ['', 'none', authority.slice(0, 200), '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----'])
    t.match(failureOf(await openRegistry(t, { authority: pem }).digest(reference)), {
      kind: 'invalid',
      message: 'JANUS_PACKAGES_AUTHORITY: expected certificates in PEM, found something else',
    });
});

t.test('an ImageConfig names the registry: its addresses may be internal, whatever the user named', async (t) => {
  const { place, digest } = await publish();
  const reference = { source: `${proxy.host}/${place.repository}`, version: 'v1.0.0' };
  const root = '198.51.100.7/acme/root';
  t.match(failureOf(await openRegistry(t, { root }).digest(reference)), { kind: 'invalid', message: /internal address/ });
  t.same(await openRegistry(t, { root, isNamed: true }).digest(reference), { kind: 'ok', digest });
  const unknown = 'unknown.invalid/acme/root';
  t.match(failureOf(await openRegistry(t, { root: unknown }).digest(reference)), {
    kind: 'invalid',
    message: /internal address/,
  });
});

t.test('the login of an ImageConfig comes before those of the package', async (t) => {
  const { place } = await publish();
  proxy.act((asked, answer) => {
    if (asked.headers.authorization !== undefined) return false;
    answer.writeHead(401, { 'www-authenticate': 'Basic realm="tests"' }).end();
    return true;
  });
  const userOf = (): string => {
    const [, encoded = ''] = (proxy.seen.at(-1)?.authorization ?? '').split(' ');
    return Buffer.from(encoded, 'base64').toString().split(':')[0] ?? '';
  };
  const source = `${proxy.host}/${place.repository}`;
  const pullSecrets = [dockerConfig(source, 'package', 'p')];
  for (const [configured, user] of [
    [dockerConfig(proxy.host, 'config', 'c'), 'config'],
    [dockerConfig('other.example.org', 'config', 'c'), 'package'],
    [undefined, 'package'],
  ] as const) {
    await openRegistry(t, { pullSecrets, configured }).tags(source);
    t.equal(userOf(), user);
  }
  proxy.act(passOn);
});

/** A proxy of the kind that networks have: whatever host is requested, it reaches that port of this machine. */
async function startForwarding(t: Teardown, port: number, address = '127.0.0.1') {
  const seen: string[] = [];
  const authorizations = new Set<string>();
  const note = ({ url = '', headers }: IncomingMessage): void => {
    seen.push(url);
    authorizations.add(headers['proxy-authorization'] ?? '');
  };
  const server = createHttpServer((asked, answer) => {
    note(asked);
    const { pathname, search } = new URL(asked.url ?? '');
    const { accept = '*/*' } = asked.headers;
    httpRequest({ host: address, port, path: `${pathname}${search}`, method: asked.method, headers: { accept } }, (reply) => {
      answer.writeHead(reply.statusCode ?? 500, reply.headers);
      reply.pipe(answer);
    }).end();
  });
  server.on('connect', (asked, socket) => {
    note(asked);
    const onward = connectTcp(port, address, () => {
      socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      onward.pipe(socket).pipe(onward);
    });
    for (const one of [socket, onward]) one.on('error', () => onward.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return { host: `127.0.0.1:${(server.address() as AddressInfo).port}`, seen, authorizations };
}

const canary = 'cAnaRy-7788';

t.test('a registry that only a proxy reaches, by HTTP', async (t) => {
  const { place, digest } = await publish();
  const forwarding = await startForwarding(t, Number(new URL(origin).port));
  const url = `http://user:${canary}@${forwarding.host}`;
  const host = 'registry.unknown.invalid:5000';
  const [httpHosts, reference] = [[host], { source: `${host}/${place.repository}`, version: 'v1.0.0' }];
  const given = { httpHosts, proxy: { url, except: ['other.invalid'] } };
  t.same(await openRegistry(t, given).digest(reference), { kind: 'ok', digest });
  t.match(forwarding.seen, [`http://${host}/v2/${place.repository}/manifests/v1.0.0`], 'the proxy looks the name up');
  t.same([...forwarding.authorizations], [`Basic ${Buffer.from(`user:${canary}`).toString('base64')}`]);

  t.same(
    await openRegistry(t, { ...given, root: 'root.invalid/acme/root' }).digest(reference),
    { kind: 'ok', digest },
    'a dependency',
  );
  for (const address of ['169.254.169.254', '10.0.0.1', '127.0.0.3']) {
    const inside = { source: `${address}:5000/${place.repository}`, version: 'v1.0.0' };
    const failure = failureOf(await openRegistry(t, { ...given, root: 'root.invalid/acme/root' }).digest(inside));
    t.match(failure, { kind: 'invalid', message: /internal address/ }, address);
  }

  forwarding.seen.length = 0;
  for (const one of ['invalid', 'unknown.invalid', 'registry.unknown.invalid', host]) {
    const failure = failureOf(await openRegistry(t, { httpHosts, proxy: { url, except: [one] } }).digest(reference));
    t.match(failure, { message: /is not known/ }, one);
  }
  t.same(await openRegistry(t, given).digest({ ...reference, source: `${proxy.host}/${place.repository}` }), {
    kind: 'ok',
    digest,
  });
  t.same(forwarding.seen, [], 'neither those hosts nor this machine are reached by the proxy');

  const gone = { url: `http://user:${canary}@127.0.0.1:1`, except: [] };
  const failure = failureOf(await openRegistry(t, { httpHosts, proxy: gone }).digest(reference));
  t.match(failure, { kind: 'unavailable', message: /\(by the proxy\): / });
  t.notMatch(failure.message, canary);
});

t.test('a registry that only a proxy reaches, by HTTPS, with an authority of its own', async (t) => {
  const { place, digest } = await publish();
  const { host, authority } = await startTls(t, '127.0.0.2');
  const forwarding = await startForwarding(t, Number(host.split(':')[1]), '127.0.0.2');
  const given = { proxy: { url: `http://${forwarding.host}`, except: [] }, authority };
  const reference = { source: `${host}/${place.repository}`, version: 'v1.0.0' };
  t.same(await openRegistry(t, given).digest(reference), { kind: 'ok', digest });
  t.same(new Set(forwarding.seen), new Set([host]));
  const other = makeCertificate('127.0.0.2').certificate;
  const failure = failureOf(await openRegistry(t, { ...given, authority: other }).digest(reference));
  t.match(failure, { kind: 'unavailable', message: /no trusted TLS connection/ });
});
