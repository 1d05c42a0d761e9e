// Manifests from a URL: a bound for the time, certificates that the user trusts, and plain HTTP, which kubectl takes, too.
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { readUrl } from '../../cli/input/urls.ts';
import { openCli } from '../support/cli.ts';
import { deletion, own, startServer } from './here.ts';

const { signal } = new AbortController();
const text = JSON.stringify(deletion);

async function startPlain(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

t.test('a server that gives no answer, or half of one, ends the read after the bound', async (t) => {
  const silent = await startPlain(() => undefined);
  const half = await startPlain((_request, response) => response.write(text.slice(0, 9)));
  for (const url of [silent, half])
    await t.rejects(readUrl(`${url}/tx.json?token=x`, { bytes: 1_000, signal, patience: 300 }), {
      message: `${url}/tx.json cannot be read (no whole answer in 0.3 s): correct the URL after -f, or download it.`,
    });
});

t.test('https needs a certificate that the program trusts; NODE_EXTRA_CA_CERTS adds an authority', async (t) => {
  const cli = await openCli(t);
  const server = await startServer(t, (_request, response) => response.end(text));
  const words = ['lint', '-f', `${server}/tx.json`];
  t.match(await cli.run(words), { code: 3, out: '', err: /tx\.json cannot be read \(DEPTH_ZERO_SELF_SIGNED_CERT\): / });
  const env = { NODE_EXTRA_CA_CERTS: cli.write('authorities.pem', own.certificate) };
  t.match(await cli.run(words, { env }), { code: 0, out: '', err: '' });
  const plain = await startPlain((_request, response) => response.end(text));
  t.match(await cli.run(['lint', '-f', `${plain}/tx.json`]), { code: 0, out: '', err: '' }, 'plain HTTP');
});
