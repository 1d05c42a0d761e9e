// A receiver of notifications.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Json } from '../../hooks/objects/json.ts';
import type { Teardown } from './client.ts';

interface Posted {
  readonly path: string;
  readonly body: Json;
}

interface Webhook {
  readonly url: string;
  /** In its order. */
  readonly received: readonly Posted[];
}

export async function openWebhook(t: Teardown): Promise<Webhook> {
  const received: Posted[] = [];
  const server = createServer(async (request, response) => {
    received.push({ path: request.url ?? '', body: JSON.parse(await text(request)) });
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received };
}
