// The requests of a loop for each call of the hook, by the API server's own count. They are equal for the double and for the
// real Metacontroller, so `npm run bench` may use the double.
import t from 'tap';
import { type Client, must, waitFor } from '../client.ts';
import { loopKinds } from './scripted-hook.ts';
import { setStage, status } from './stage.ts';

for (const kind of loopKinds) {
  t.test(`requests of the ${kind}`, { timeout: 120_000 }, async (t) => {
    const stage = await setStage(t, kind);
    // The third status stays: an answer with the status of the call would store an older one again if the loop's watch is late.
    const parent = await stage.parent('counted', (_call, number) => status('Running', Math.min(number, 3)));
    await parent.called(4);
    const group = parent.path.split('/')[2] ?? '';
    const isQuiet = async () => {
      const [made, counted] = [parent.calls().length, await requestsOf(stage.client, group)];
      return counted.get('GET') === made + 1 && counted;
    };
    const counted = await waitFor(isQuiet, 'one GET for each call of the hook, and one to set the finalizer');
    t.equal(counted.get('PUT'), 1, 'the finalizer is set once');
    t.equal(counted.get('PUT status'), 3, 'each new status is stored once, and one that is as it was is not');
  });
}

/** Requests for the Transactions of a group, by verb. */
async function requestsOf(client: Client, group: string): Promise<ReadonlyMap<string, number>> {
  const answer = await client.get('/metrics');
  if (answer.code !== 200) must(answer);
  const counts = new Map<string, number>();
  for (const line of answer.text.split('\n')) {
    if (!line.startsWith('apiserver_request_total{') || !line.includes(`group="${group}"`)) continue;
    const label = (name: string): string => new RegExp(`[{,]${name}="([^"]*)"`).exec(line)?.[1] ?? '';
    const key = `${label('verb')} ${label('subresource')}`.trim();
    counts.set(key, (counts.get(key) ?? 0) + Number(line.slice(line.lastIndexOf(' '))));
  }
  return counts;
}
