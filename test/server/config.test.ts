// The environment as a table: accepted values, refused values, and the messages.
import t from 'tap';
import { apiServerOf, type Environment, readConfig } from '../../server/config.ts';

const enough: Environment = { KUBECONFIG: '/etc/kubeconfig', JANUS_TOKEN_DIRECTORY: '/etc/token' };
const mebibyte = 1024 * 1024;

t.test('a missing variable has a default', async (t) => {
  t.same(readConfig(enough), {
    kind: 'ok',
    config: {
      port: 8080,
      host: '0.0.0.0',
      engineNamespace: 'janus-system',
      namespaces: [],
      logLevel: 'info',
      bodyLimit: 8 * mebibyte,
      callBudget: 5_000,
      readAge: 1_000,
      parallel: 16,
      tokenDirectory: '/etc/token',
    },
  });
});

t.test('the config contains the given values', async (t) => {
  const environment = {
    KUBECONFIG: 'a:b',
    PORT: '9000',
    HOST: '::1',
    JANUS_NAMESPACE: 'engine',
    JANUS_NAMESPACES: 'team-a, team-b,team-a',
    LOG_LEVEL: 'debug',
    JANUS_BODY_LIMIT: String(mebibyte),
    JANUS_CALL_BUDGET: '0',
    JANUS_LOOK_AGE: '250ms',
    JANUS_PARALLEL: '8',
    JANUS_TOKEN_DIRECTORY: '/run/token',
    JANUS_TLS_CERTIFICATE: '/run/tls.crt',
    JANUS_TLS_KEY: '/run/tls.key',
    JANUS_TLS_CLIENT_AUTHORITY: '/run/ca.crt',
  };
  t.match(readConfig(environment), {
    config: {
      port: 9000,
      host: '::1',
      engineNamespace: 'engine',
      namespaces: ['team-a', 'team-b'],
      logLevel: 'debug',
      bodyLimit: mebibyte,
      callBudget: 0,
      readAge: 250,
      parallel: 8,
      tokenDirectory: '/run/token',
      tls: { certificate: '/run/tls.crt', key: '/run/tls.key', clientAuthority: '/run/ca.crt' },
    },
  });
});

t.test('the settings of registries', async (t) => {
  const given = {
    ...enough,
    JANUS_PACKAGES: 'true',
    JANUS_PACKAGES_AUTHORITY: 'ConfigMap/trust/ca.crt',
    JANUS_PACKAGES_TRUSTED_ROOT: 'Secret/trust/trusted_root.json',
    JANUS_PACKAGES_PROXY: 'http://user:word@proxy.example.org:3128',
    JANUS_PACKAGES_NO_PROXY: '.infra.svc, registry.example.org:5000',
  };
  t.match(readConfig(given), {
    config: {
      packages: {
        authority: { kind: 'ConfigMap', name: 'trust', key: 'ca.crt' },
        trustedRoot: { kind: 'Secret', name: 'trust', key: 'trusted_root.json' },
        proxy: 'http://user:word@proxy.example.org:3128',
        noProxy: ['infra.svc', 'registry.example.org:5000'],
      },
    },
  });
  for (const proxy of ['socks5://user:word@proxy.example.org', 'proxy.example.org:3128 word', 'http://user:word@proxy:port'])
    t.same(
      readConfig({ ...given, JANUS_PACKAGES_PROXY: proxy }),
      {
        kind: 'faults',
        faults: ['JANUS_PACKAGES_PROXY: expected a URL http://HOST:PORT or https://HOST:PORT, found another text'],
      },
      'no message has a password',
    );
  t.match(readConfig({ ...given, JANUS_PACKAGES_AUTHORITY: '/etc/ca.crt' }), {
    faults: ['JANUS_PACKAGES_AUTHORITY: expected ConfigMap/NAME/KEY or Secret/NAME/KEY, found "/etc/ca.crt"'],
  });
});

t.test('the hook uses the API server of a kubeconfig, or of its Pod', async (t) => {
  const pod = { ...enough, KUBECONFIG: '', KUBERNETES_SERVICE_HOST: '10.0.0.1' };
  t.equal(readConfig(pod).kind, 'ok');
  const directory = '/var/run/secrets/kubernetes.io/serviceaccount';
  t.same(apiServerOf(pod), { kind: 'pod', host: '10.0.0.1', port: '443', directory });
  const elsewhere = { ...pod, KUBERNETES_SERVICE_PORT: '6443', JANUS_SERVICE_ACCOUNT_DIRECTORY: '/run/account' };
  t.same(apiServerOf(elsewhere), { kind: 'pod', host: '10.0.0.1', port: '6443', directory: '/run/account' });
  t.same(apiServerOf({ ...pod, KUBECONFIG: 'a:b' }), { kind: 'kubeconfig', paths: 'a:b' });
  t.equal(apiServerOf({}), undefined);
});

t.test('the hook runs without a token only if a flag says so', async (t) => {
  const { JANUS_TOKEN_DIRECTORY: _, ...withoutToken } = enough;
  const insecure = {
    kind: 'faults',
    faults: [/^JANUS_TOKEN_DIRECTORY: is required: directory with the bearer token .*--insecure/],
  };
  t.match(readConfig(withoutToken), insecure);
  t.match(readConfig({ ...withoutToken, JANUS_TOKEN_DIRECTORY: '' }), insecure);
  const open = readConfig(withoutToken, ['--insecure']);
  t.ok(open.kind === 'ok' && open.config.tokenDirectory === undefined);
});

const flagged: readonly (readonly [reason: string, flags: readonly string[], fault: string])[] = [
  ['not both', ['--insecure'], 'JANUS_TOKEN_DIRECTORY: must be empty with --insecure, found "/etc/token"'],
  ['a flag is spelt right', ['--unsecure'], '--unsecure: unknown flag; the only flag is --insecure'],
];

for (const [reason, flags, fault] of flagged)
  t.test(`flags: ${reason}`, async (t) => t.same(readConfig(enough, flags), { kind: 'faults', faults: [fault] }));

t.test('an empty variable counts as absent', async (t) => {
  t.match(readConfig({ ...enough, PORT: '', LOG_LEVEL: '' }), { config: { port: 8080, logLevel: 'info' } });
});

t.test('the config cannot be changed', async (t) => {
  const result = readConfig(enough);
  t.ok(result.kind === 'ok' && Object.isFrozen(result.config));
});

const refused: readonly (readonly [reason: string, environment: Environment, fault: string])[] = [
  ['a port is a number', { PORT: 'http' }, 'PORT: expected an integer from 0 to 65535, found "http"'],
  ['a port has 16 bits', { PORT: '65536' }, 'PORT: expected an integer from 0 to 65535, found "65536"'],
  ['a port is not negative', { PORT: '-1' }, 'PORT: expected an integer from 0 to 65535, found "-1"'],
  ['a call ends before Metacontroller gives up', { JANUS_CALL_BUDGET: '11s' }, 'JANUS_CALL_BUDGET: expected a duration'],
  ['a reading of the Transaction grows old', { JANUS_LOOK_AGE: '6s' }, 'JANUS_LOOK_AGE: expected a duration'],
  ['a process sends at least one write', { JANUS_PARALLEL: '0' }, 'JANUS_PARALLEL: expected an integer from 1 to 28, found "0"'],
  ['renewals need connections', { JANUS_PARALLEL: '29' }, 'JANUS_PARALLEL: expected an integer from 1 to 28, found "29"'],
  ['a port is whole', { PORT: '80.5' }, 'PORT: expected an integer from 0 to 65535, found "80.5"'],
  ['a host has no spaces', { HOST: 'a b' }, 'HOST: expected an address or a host name, found "a b"'],
  [
    'no namespace of a list is empty',
    { JANUS_NAMESPACES: 'team-a,' },
    'JANUS_NAMESPACES: expected a comma-separated list of namespaces, found "team-a,"',
  ],
  ['a namespace is lower case', { JANUS_NAMESPACE: 'Janus' }, 'JANUS_NAMESPACE: expected a namespace name, found "Janus"'],
  ['a namespace has 63 characters at most', { JANUS_NAMESPACE: 'a'.repeat(64) }, 'JANUS_NAMESPACE: expected a namespace name'],
  [
    'a level is one of pino',
    { LOG_LEVEL: 'loud' },
    'LOG_LEVEL: expected one of fatal, error, warn, info, debug, trace, silent, found "loud"',
  ],
  [
    'a body limit takes a Transaction',
    { JANUS_BODY_LIMIT: '10' },
    'JANUS_BODY_LIMIT: expected an integer from 1048576 to 268435456',
  ],
  ['a path is one line', { JANUS_TOKEN_DIRECTORY: 'a\nb' }, 'JANUS_TOKEN_DIRECTORY: expected a path, found "a\\nb"'],
  ['a certificate has a key', { JANUS_TLS_CERTIFICATE: 'a' }, 'JANUS_TLS_KEY: is required for TLS: path of a PEM file'],
  ['a key has a certificate', { JANUS_TLS_KEY: 'a' }, 'JANUS_TLS_CERTIFICATE: is required for TLS: path of a PEM file'],
  ['a cluster is named', { KUBECONFIG: '' }, 'KUBECONFIG: is required outside a Pod'],
];

for (const [reason, environment, fault] of refused)
  t.test(`refused: ${reason}`, async (t) => {
    const result = readConfig({ ...enough, ...environment });
    t.equal(result.kind, 'faults');
    if (result.kind !== 'faults') return;
    t.equal(result.faults.length, 1);
    t.match(result.faults[0], fault);
  });

t.test('the config reports all faults at once', async (t) => {
  const result = readConfig({
    PORT: 'x',
    HOST: ' ',
    JANUS_NAMESPACE: '_',
    LOG_LEVEL: 'x',
    JANUS_BODY_LIMIT: 'x',
    JANUS_TLS_CLIENT_AUTHORITY: 'x',
  });
  const names = result.kind === 'faults' ? result.faults.map((fault) => fault.slice(0, fault.indexOf(':'))) : [];
  const expected = ['PORT', 'HOST', 'JANUS_NAMESPACE', 'LOG_LEVEL', 'JANUS_BODY_LIMIT', 'KUBECONFIG', 'JANUS_TOKEN_DIRECTORY'];
  t.same(names, [...expected, 'JANUS_TLS_CERTIFICATE', 'JANUS_TLS_KEY']);
});
