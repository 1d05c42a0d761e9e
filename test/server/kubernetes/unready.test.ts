// Refusals of an API server that starts: they count only once it is ready (server/kubernetes/unready.ts).
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import type { Failed, Identity, Write } from '../../../hooks/objects/cluster.ts';
import type { KubernetesCluster } from '../../../server/kubernetes/cluster.ts';
import { failureOfAnswer } from '../../../server/kubernetes/failures.ts';
import type { ApiRequest } from '../../../server/kubernetes/requests.ts';
import { failed, type Transport } from '../../../server/kubernetes/transport.ts';
import { freeNamespace } from '../../support/client.ts';
import { connectToCluster } from '../../support/install.ts';
import { configMap, create, engine, failureOf, fieldManager, locationOf, openCluster } from './real.ts';

const client = connectToCluster();
const plain = openCluster();
t.teardown(() => Promise.all([client.close(), plain.close()]));
const namespace = await freeNamespace(client, 'unready', t);
const location = await locationOf(plain, await create(plain, configMap('one'), namespace), namespace);
const write: Write = {
  verb: 'create',
  identity: engine,
  location: { ...location, name: 'two' },
  object: configMap('two'),
  fieldManager,
};
const nobody: Identity = { kind: 'serviceAccount', namespace, name: 'nobody' };

const starting = failed({
  kind: 'transient',
  code: 500,
  reason: 'AnswerUnreadable',
  message: '[-]informer-sync failed',
  fields: [],
  definitive: false,
});

interface Moment {
  /** How many requests are refused, by the real API server, as those of a ServiceAccount without rights. */
  refusals: number;
  /** Whether /readyz fails. */
  isStarting: boolean;
  readonly sent: ApiRequest[];
}

/** Who asks, in the eyes of the API server. */
function callerAt(moment: Moment, request: ApiRequest, identity: Identity): Identity {
  if (request.path === '/readyz') return identity;
  moment.refusals -= 1;
  return moment.refusals >= 0 ? nobody : identity;
}

/** The API server of the suite as it would answer while its caches are empty. */
function opened(moment: Moment, untilAnswered: () => Promise<unknown> = async () => undefined): KubernetesCluster {
  const instrument = (real: Transport): Transport => ({
    async request(request, identity, isLate) {
      moment.sent.push(request);
      if (request.path === '/readyz' && moment.isStarting) return starting;
      const answer = await real.request(request, callerAt(moment, request, identity), isLate);
      await untilAnswered();
      return answer;
    },
    close: () => real.close(),
  });
  const cluster = openCluster({ instrument });
  t.teardown(() => cluster.close());
  return cluster;
}

t.test('while it is not ready, a refusal is transient, and proves that nothing was written', async (t) => {
  const cluster = opened({ refusals: 2, isStarting: true, sent: [] });
  const unproven = { kind: 'transient', code: 503, reason: 'ServiceUnavailable', definitive: true } as const;
  t.match(failureOf(await cluster.send(write)), { ...unproven, message: /not ready .*forbidden/ });
  const review = await cluster.allowed({ verb: 'get', group: '', resource: 'secrets', namespace }, engine);
  t.match(failureOf(review), { ...unproven, message: /denied the permission/ });
  t.equal((await plain.get(write.location, engine)).kind, 'failed');
});

t.test('an API server that became ready gets the request again, with its remaining lifetime', async (t) => {
  const moment: Moment = { refusals: 1, isStarting: false, sent: [] };
  t.equal((await opened(moment).send(write)).kind, 'ok');
  const [first, ready, again] = moment.sent.filter(({ path }) => path === '/readyz' || path?.includes('configmaps'));
  t.same([first?.method, ready?.path, again?.method], ['POST', '/readyz', 'POST']);
  t.ok((again?.lifetime ?? 0) < (first?.lifetime ?? 0), `${again?.lifetime} ms of ${first?.lifetime} ms`);
});

t.test('the port repeats a review that denies too', async (t) => {
  const question = { verb: 'get', group: '', resource: 'configmaps', namespace };
  const cluster = opened({ refusals: 1, isStarting: false, sent: [] });
  t.same(await cluster.allowed(question, engine), { kind: 'ok', allowed: true });
});

const refused = { kind: 'refused', code: 403, reason: 'Forbidden', definitive: true } as const;

t.test('a refusal of a ready API server counts; for a while each refusal costs one request', async (t) => {
  const moment: Moment = { refusals: 100, isStarting: false, sent: [] };
  const three = barrierOf(3);
  const cluster = opened(moment, three);
  const get = async () => failureOf(await cluster.get(location, engine));
  t.match(await Promise.all([get(), get(), get()]), [refused, refused, refused]);
  const paths = moment.sent.map(({ path }) => path);
  t.same([paths.length, paths.filter((path) => path === '/readyz').length], [7, 1], 'three twice, and one question');
  moment.isStarting = true;
  t.match(await get(), refused);
  t.equal(moment.sent.length, 8);
});

/** Resolves each call once as many calls as given have come. */
function barrierOf(count: number): () => Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let calls = 0;
  return () => {
    calls += 1;
    if (calls === count) resolve();
    return promise;
  };
}

/** A real API server behind a way that answers the question for readiness otherwise. */
function behind(readiness: Failed, meddle: () => Promise<unknown> = async () => undefined): KubernetesCluster {
  const instrument = (real: Transport): Transport => ({
    async request(request, _identity, isLate) {
      if (request.path === '/readyz') return readiness;
      await meddle();
      return real.request(request, nobody, isLate);
    },
    close: () => real.close(),
  });
  const cluster = openCluster({ instrument, writeTimeout: 2_000 });
  t.teardown(() => cluster.close());
  return cluster;
}

t.test('a refusal counts if the readiness is unknown', async (t) => {
  const headers = { 'content-type': 'text/html' };
  for (const code of [200, 302, 401, 404]) {
    const page = failed(failureOfAnswer({ code, headers, body: undefined }));
    t.match(failureOf(await behind(page).get(location, engine)), refused, `${code}`);
  }
});

t.test('the port does not retry a refusal that took more than half of the lifetime', async (t) => {
  const ready = failed(failureOfAnswer({ code: 200, headers: {}, body: undefined }));
  let tries = 0;
  const cluster = behind(ready, async () => {
    tries += 1;
    await sleep(1_200);
  });
  const missing: Write = { ...write, location: { ...location, name: 'three' }, object: configMap('three') };
  t.match(failureOf(await cluster.send(missing)), { kind: 'transient', code: 503, definitive: true });
  t.equal(tries, 1);
  t.match(failureOf(await cluster.send(missing)), refused, 'the next try counts');
  t.equal(tries, 2);
});
