// The ResourceQuota of examples/quota: the API server refuses one Transaction too many.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { parse } from 'yaml';
import { at, type JsonObject, textAt, withPath } from '../../hooks/objects/json.ts';
import { freeNamespace, must, waitFor } from '../support/client.ts';
import { connectToCluster, installManifests } from '../support/install.ts';
import { sampleSpec, transactionsIn, transactionWith } from './samples.ts';

const client = connectToCluster();
t.teardown(() => client.close());
await installManifests(client);

const counted = 'count/transactions.tx.janus.io';
const example = parse(readFileSync(join(import.meta.dirname, '../../examples/quota/transactions.yaml'), 'utf8')) as JsonObject;

/** The controller of quotas finds kinds of CRDs by discovery, twice a minute, and counts again for a new quota. */
async function putQuota(quotas: string, quota: JsonObject): Promise<void> {
  const isCounted = async (): Promise<boolean> => {
    must(await client.create(quotas, quota));
    const status = await waitFor(async () => {
      const found = at(must(await client.get(`${quotas}/transactions`)), 'status');
      return at(found, 'hard', counted) === undefined ? undefined : found;
    }, 'status.hard');
    if (at(status, 'used', counted) === '0') return true;
    must(await client.delete(`${quotas}/transactions`));
    return false;
  };
  await waitFor(isCounted, 'the controller of quotas to know the kind', { timeoutMs: 120_000 });
}

t.test('the API server admits exactly as many Transactions as the quota of a namespace', async (t) => {
  const namespace = await freeNamespace(client, 'quota', t);
  await putQuota(`/api/v1/namespaces/${namespace}/resourcequotas`, withPath(example, ['metadata', 'namespace'], namespace));
  const most = Number(at(example, 'spec', 'hard', counted));
  const path = transactionsIn(namespace);
  const names = Array.from({ length: most }, (_, index) => `release-${index}`);
  for (const name of names) must(await client.create(path, transactionWith(sampleSpec, name)));
  const refused = await client.create(path, transactionWith(sampleSpec, 'one-too-many'));
  t.equal(refused.code, 403);
  t.match(textAt(refused.body, 'message'), `exceeded quota: transactions, requested: ${counted}=1, used: ${counted}=${most}`);
  must(await client.delete(`${path}/release-0`));
  const again = async () => (await client.create(path, transactionWith(sampleSpec, 'one-too-many'))).code === 201;
  await waitFor(again, 'the place of the one that was deleted', { timeoutMs: 120_000 });
});
