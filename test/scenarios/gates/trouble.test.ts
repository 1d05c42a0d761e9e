// Gates while the API server is slow, busy, or does not serve a kind yet.
import t, { type Test } from 'tap';
import type { Cluster, Failed } from '../../../hooks/objects/cluster.ts';
import { textAt } from '../../../hooks/objects/json.ts';
import { waitFor } from '../../support/client.ts';
import { serveGadgets } from '../../support/gadgets.ts';
import { itemsOf } from '../../support/round-trip.ts';
import { startSlowAdmission } from '../../support/slow-admission.ts';
import { type Stage, startStage } from '../../support/stage.ts';
import { step, stepToEnd, stepUntil } from '../../support/stepping.ts';
import { change } from '../../support/targets.ts';

const data = { data: { a: 'b' } };

/** A stage, and what its reads as the ServiceAccount are answered, by the kind, where the API server is not asked. */
async function start(t: Test): Promise<{ readonly stage: Stage; readonly answers: Map<string, Failed> }> {
  const answers = new Map<string, Failed>();
  const wrap = (cluster: Cluster): Cluster => {
    const instead = (kind: string, identity: { readonly kind: string }): Failed | undefined =>
      identity.kind === 'serviceAccount' ? answers.get(kind) : undefined;
    return {
      ...cluster,
      get: async (location, identity) => instead(location.resource.kind, identity) ?? cluster.get(location, identity),
      listMetadata: async (resource, namespace, identity, options) =>
        instead(resource.kind, identity) ?? cluster.listMetadata(resource, namespace, identity, options),
    };
  };
  return { stage: await startStage(t, { withoutLoop: true, wrap }), answers };
}

t.test('the time of a gate begins after the write', async (t) => {
  const { stage } = await start(t);
  const admission = await startSlowAdmission(stage, t);
  const gate = { timeout: '1s', ready: { field: { path: '.data.b' } } };
  await stage.transaction('slow', [{ ...change('Create', 'slow', data), gate }]);
  await stepUntil(stage, 'slow', 'Prepared');
  const held = admission.hold('slow');
  const stepped = step(stage, 'slow');
  await held.arrived;
  const sent = Date.now();
  await waitFor(async () => Date.now() > sent + 2_000, 'the write to take longer than the gate');
  const released = new Date().toISOString().slice(0, 19);
  held.release();
  const since = textAt(itemsOf((await stepped).status)[0], 'gate', 'since') ?? '';
  t.ok(since.slice(0, 19) >= released, `${since}, released ${released}`);
});

t.test('a diagnosis does not delay the rollback, whatever the API server asks for', async (t) => {
  const { stage, answers } = await start(t);
  const gadgets = await serveGadgets(t, stage);
  const busy = { kind: 'transient', code: 429, reason: 'TooManyRequests', message: '', fields: [], definitive: true } as const;
  const failure = { ...busy, retryAfterSeconds: 60 };
  answers.set('Event', { kind: 'failed', failure });
  await stage.transaction('busy', [
    gadgets.change('Create', 'busy', { failed: { condition: { type: 'Ready', status: 'False' } } }),
  ]);
  await stepUntil(stage, 'busy', 'Committing');
  await gadgets.report('busy', 'False');
  const failed = await step(stage, 'busy');
  t.match(itemsOf(failed.status)[0], { error: { message: /Events could not be read \(TooManyRequests\)/ } });
  t.match(await step(stage, 'busy'), { code: 200 }, 'it goes on at once');
  t.match(await stepToEnd(stage, 'busy'), { phase: 'RolledBack' });
});

t.test('a gate does not count an object as gone while some API servers do not serve its kind', async (t) => {
  const { stage, answers } = await start(t);
  const gadgets = await serveGadgets(t, stage);
  await stage.transaction('young', [gadgets.change('Create', 'young', {})]);
  await stepUntil(stage, 'young', 'Committing');
  await gadgets.report('young', 'True');
  const unserved = { kind: 'absent', code: 404, reason: 'NotFound', message: '', fields: [], definitive: true } as const;
  answers.set('Gadget', { kind: 'failed', failure: unserved });
  t.match(await step(stage, 'young'), { phase: 'Committing', status: { message: /cannot be read now \(NotFound\)/ } });
  answers.clear();
  t.match(await stepToEnd(stage, 'young'), { phase: 'Committed' });
});
