// Requests that the API server turns away before it looks at an object: too many at a time, or of a kind that it no longer serves.
import t from 'tap';
import type { Identity, Write } from '../../../hooks/objects/cluster.ts';
import { reasonOfFailure } from '../../../hooks/transactions/model/reason.ts';
import { freeNamespace, must, waitFor } from '../../support/client.ts';
import { connectToCluster } from '../../support/install.ts';
import { configMap, engine, failureOf, fieldManager, locationOf, openCluster } from './real.ts';

const client = connectToCluster();
const cluster = openCluster();
t.teardown(() => Promise.all([client.close(), cluster.close()]));
const namespace = await freeNamespace(client, 'away', t);

t.test('429 in plain text: the request was not let in, and the API server says when to come again', async (t) => {
  const flow = '/apis/flowcontrol.apiserver.k8s.io/v1';
  const limited = {
    nominalConcurrencyShares: 0,
    lendablePercent: 0,
    borrowingLimitPercent: 0,
    limitResponse: { type: 'Reject' },
  };
  const level = { metadata: { name: namespace }, spec: { type: 'Limited', limited } };
  const account: Identity = { kind: 'serviceAccount', namespace, name: 'limited' };
  const subjects = [{ kind: 'ServiceAccount', serviceAccount: { namespace, name: account.name } }];
  const resourceRules = [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], namespaces: ['*'] }];
  const schema = {
    metadata: { name: namespace },
    spec: {
      matchingPrecedence: 2,
      priorityLevelConfiguration: { name: namespace },
      distinguisherMethod: { type: 'ByUser' },
      rules: [{ subjects, resourceRules }],
    },
  };
  must(await client.create(`${flow}/prioritylevelconfigurations`, level));
  t.teardown(() => client.delete(`${flow}/prioritylevelconfigurations/${namespace}`));
  must(await client.create(`${flow}/flowschemas`, schema));
  t.teardown(() => client.delete(`${flow}/flowschemas/${namespace}`));

  const object = configMap('one');
  const location = await locationOf(cluster, object, namespace);
  const write: Write = { verb: 'create', identity: account, location, object, fieldManager };
  // The API server lets one request in at a time, whatever the share.
  const tooMany = async () => {
    const failures = (await Promise.all(Array.from({ length: 30 }, () => cluster.send(write)))).map(failureOf);
    return failures.find(({ code }) => code === 429);
  };
  const failure = await waitFor(tooMany, 'the API server to turn one of many away');
  t.match(failure, { kind: 'transient', reason: 'TooManyRequests', definitive: true, retryAfterSeconds: 1 });
  t.match(failure.message, /^the API server answered with HTTP status 429/);
  t.equal(reasonOfFailure(failure), 'TooManyRequests');
});

t.test('a kind that is no longer served is unknown, although the process remembers it', async (t) => {
  const group = `${namespace}.example.org`;
  const version = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } };
  const names = { plural: 'things', kind: 'Thing' };
  const spec = { group, scope: 'Cluster', names, versions: [version] };
  const definition = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions`;
  must(await client.create(definition, { metadata: { name: `things.${group}` }, spec }));
  const object = { apiVersion: `${group}/v1`, kind: 'Thing', metadata: { name: 'one' } };
  await waitFor(async () => (await cluster.resource(object.apiVersion, 'Thing')).kind === 'ok', 'the kind');
  const location = await locationOf(cluster, object);
  const apply: Write = { verb: 'apply', identity: engine, location, object, precondition: 'absent', fieldManager };
  await waitFor(async () => (await cluster.dryRun(apply)).kind === 'ok', 'the kind to be served');
  must(await client.delete(`${definition}/things.${group}`));
  for (const what of [apply, { verb: 'create', identity: engine, location, object, fieldManager } as const])
    await waitFor(async () => {
      const answer = await cluster.dryRun(what);
      return answer.kind === 'failed' && answer.failure.reason === 'UnknownKind';
    }, `a ${what.verb} to find the kind unknown`);
  const failure = failureOf(await cluster.dryRun(apply));
  t.match(failure, { kind: 'absent', code: 404, definitive: true });
  t.match(failure.message, new RegExp(`no longer serves kind Thing of ${group}/v1`));
  t.equal(reasonOfFailure(failure), 'UnknownKind');
});

t.test('a namespace that is missing, or an object, is no unknown kind', async (t) => {
  const object = configMap('one');
  const location = await locationOf(cluster, object, `${namespace}-missing`);
  const failure = failureOf(await cluster.dryRun({ verb: 'create', identity: engine, location, object, fieldManager }));
  t.match(failure, { kind: 'absent', reason: 'NotFound', subject: `${namespace}-missing` });
});
