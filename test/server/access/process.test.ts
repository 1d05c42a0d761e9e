// The hook as a process: who may call it is read from its environment, its flags and its files, and from the files again.
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { Agent, request as call } from 'undici';
import { type Certificate, makeCertificate } from '../../support/certificate.ts';
import { freeNamespace, waitFor } from '../../support/client.ts';
import { type Environment, freeFolder, hookEnvironment, post, startHookProcess } from '../../support/hook-process.ts';
import { callHeaders } from '../../support/hook-token.ts';
import { connectToCluster } from '../../support/install.ts';
import { kubeconfigOfSuite } from '../kubernetes/real.ts';
import { request } from '../parts.ts';

const client = connectToCluster();
t.teardown(() => client.close());
const namespace = await freeNamespace(client, 'access', t);
const directory = freeFolder(t);
const settings = (kubeconfig: string) => hookEnvironment(t, kubeconfig, namespace);
const start = (environment: Environment, command?: readonly string[]) => startHookProcess(t, environment, command);

t.test('the hook serves callers without a token only if a flag says so, and logs it', async (t) => {
  const { JANUS_TOKEN_DIRECTORY: _, ...withoutToken } = settings(kubeconfigOfSuite());
  const hook = start(withoutToken, [process.execPath, 'server/main.ts', '--insecure']);
  const address = await hook.address();
  const answer = await post(`${address}/sync`, request, { 'content-type': 'application/json' });
  t.not(answer.statusCode, 401);
  await answer.body.dump();
  hook.process.kill('SIGTERM');
  t.equal(await hook.ended, 0);
  t.match(hook.output(), 'authentication disabled (--insecure): anyone who can reach this port may call the hook');
});

t.test('the running hook loads a replaced token and certificate', async (t) => {
  const [before, after] = [makeCertificate(), makeCertificate()];
  const write = (name: string, text: string): string => {
    const path = join(directory, name);
    writeFileSync(`${path}.new`, text, { mode: 0o600 });
    renameSync(`${path}.new`, path);
    return path;
  };
  const common = settings(kubeconfigOfSuite());
  const environment = {
    ...common,
    JANUS_TLS_CERTIFICATE: write('tls.crt', before.certificate),
    JANUS_TLS_KEY: write('tls.key', before.key),
  };
  const hook = start(environment);
  const address = await hook.address();
  t.match(address, /^https:/);
  const codeOf = async (trusted: Certificate): Promise<number> => {
    const dispatcher = new Agent({ connect: { ca: trusted.certificate } });
    try {
      const answer = await call(`${address}/sync`, {
        dispatcher,
        method: 'POST',
        headers: callHeaders,
        body: JSON.stringify(request),
      });
      await answer.body.dump();
      return answer.statusCode;
    } finally {
      await dispatcher.close();
    }
  };
  t.not(await codeOf(before), 401);
  writeFileSync(join(common.JANUS_TOKEN_DIRECTORY ?? '', 'current'), 'n'.repeat(64));
  await waitFor(async () => (await codeOf(before)) === 401, 'the former token to be refused');
  write('tls.key', after.key);
  write('tls.crt', after.certificate);
  await waitFor(async () => (await codeOf(after).catch(() => 0)) === 401, 'the new certificate to be shown');
  await t.rejects(codeOf(before));
  hook.process.kill('SIGTERM');
  t.equal(await hook.ended, 0);
});
