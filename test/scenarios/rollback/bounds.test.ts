// A rollback is refused as a whole, and names the nearest release that can be reached: if it cannot read a snapshot, and if it has too many
// objects.
import t, { type Test } from 'tap';
import { at, type JsonObject, textAt, withPath } from '../../../hooks/objects/json.ts';
import { must } from '../../support/client.ts';
import { config, release, rollBack } from '../../support/releases.ts';
import { snapshotPath } from '../../support/snapshots.ts';
import { type Stage, startStage } from '../../support/stage.ts';

/** Deletes the snapshot; `forged`: then creates another one under its name. */
async function loses(stage: Stage, name: string, forged: boolean): Promise<void> {
  const { client, path } = stage;
  const place = await snapshotPath(stage, name);
  const stored = must(await client.get(place));
  must(await client.patch(place, { metadata: { finalizers: null } }));
  must(await client.delete(place));
  if (!forged) return;
  const texts = Object.entries(at(stored, 'data') as Readonly<Record<string, string>>);
  const data = Object.fromEntries(texts.map(([key, text]) => [key, text.replaceAll('genuine', 'another')]));
  const { uid: _uid, resourceVersion: _version, managedFields: _owners, ...metadata } = stored.metadata as JsonObject;
  must(await client.create(path('configmaps'), withPath({ ...stored, data }, ['metadata'], metadata)));
}

for (const forged of [false, true])
  t.test(`the snapshot of a release in between is ${forged ? 'forged' : 'gone'}`, async (t: Test) => {
    const stage = await startStage(t);
    const data = async (): Promise<unknown> => at(must(await stage.client.get(stage.path('configmaps/a'))), 'data', 'v');
    for (const version of [1, 2, 3, 4]) await release(stage, `r${version}`, [config('a', { v: `genuine ${version}` })]);
    await loses(stage, 'r2', forged);
    const refused = await rollBack(stage, 'refused', { to: 'r1' });
    t.equal(textAt(refused, 'phase'), 'Failed');
    t.match(textAt(refused, 'message') ?? '', /snapshot .*r2-rollback-\w+ .*; the nearest release that can be reached is r2$/);
    t.equal(await data(), 'genuine 4');
    t.same(await stage.leases(), []);
    const back = await rollBack(stage, 'back', { to: 'r2' });
    t.equal(textAt(back, 'phase'), 'Committed', String(textAt(back, 'message')));
    t.equal(await data(), 'genuine 2');
  });

t.test('over 500 objects', async (t: Test) => {
  const stage = await startStage(t);
  const many = (prefix: string): readonly JsonObject[] =>
    Array.from({ length: 251 }, (_, index) => config(`${prefix}${index}`, { v: '1' }));
  await release(stage, 'r1', [config('a', { v: '1' })]);
  await release(stage, 'r2', many('x'));
  await release(stage, 'r3', many('y'));
  const refused = await rollBack(stage, 'refused', { to: 'r1' });
  t.equal(textAt(refused, 'phase'), 'Failed');
  t.match(
    textAt(refused, 'message') ?? '',
    /2 of 2 Transactions have 502 objects, at most 500 are allowed; the nearest release that can be reached is r2$/,
  );
  const back = await rollBack(stage, 'back', { to: 'r2' });
  t.equal(textAt(back, 'phase'), 'Committed', String(textAt(back, 'message')));
});
