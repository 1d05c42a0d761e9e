// ImageConfigs beside a real Crossplane: package transactions and Crossplane both read an image from its mirror.
import t from 'tap';
import { controllerOf } from '../../hooks/crossplane/checks/conflicts.ts';
import { at, textAt } from '../../hooks/objects/json.ts';
import { must } from '../support/client.ts';
import { withCrossplane } from '../support/crossplane.ts';
import { revisionOf, schemaOf, startCrossplaneWorld } from '../support/crossplane-world.ts';
import { definitionPath, imageConfigPath, packagePath } from '../support/package-paths.ts';
import { conditionIn } from '../support/package-world.ts';
import { definitionOf } from '../support/registry/builder.ts';

t.setTimeout(1_800_000);

t.test('a mirror', withCrossplane, async (t) => {
  const { world, lockEntries, healthy } = await startCrossplaneWorld(t);
  const { client, proxy } = world;
  const written = 'registry.unknown.invalid/team';
  const spec = { matchImages: [{ prefix: `${written}/` }], rewriteImage: { prefix: `${proxy.host}/acme/` } };
  must(
    await client.create(imageConfigPath, {
      apiVersion: 'pkg.crossplane.io/v1beta1',
      kind: 'ImageConfig',
      metadata: { name: 'mirror' },
      spec,
    }),
  );
  const refs = [{ name: 'mirror', reason: 'RewriteImage' }];
  for (const [tag, ...fields] of [
    ['v1.0.0', 'one'],
    ['v1.1.0', 'one', 'two'],
  ] as const)
    await t.test(`${tag} is installed from the mirror, and runs`, async (t) => {
      const things = definitionOf('things', 'mirrored.example.org', schemaOf(...fields));
      const digest = await world.publish({ name: 'mirrored', tag, objects: [things] });
      const name = `mirrored-${tag.replaceAll('.', '-')}`;
      await world.install(name, `${written}/mirrored:${tag}`, { packageName: 'mirrored' });
      const status = await world.finished(name);
      t.equal(conditionIn(status, 'Ready')?.status, 'True', JSON.stringify(status));
      const revision = await healthy(revisionOf('mirrored', digest));
      t.equal(textAt(revision, 'spec', 'image'), `${written}/mirrored@${digest}`, 'the name that the user wrote');
      t.same(at(revision, 'status', 'appliedImageConfigRefs'), refs, 'Crossplane has read it there, too');
      t.match(textAt(revision, 'status', 'resolvedImage'), `${proxy.host}/acme/mirrored`);
      t.same(await lockEntries(), [`${revisionOf('mirrored', digest)} ${written}/mirrored ${tag}`]);
      t.equal(
        textAt(must(await client.get(packagePath('providers', 'mirrored'))), 'spec', 'package'),
        `${written}/mirrored:${tag}`,
      );
      // Crossplane adds owners of its own.
      const controller = controllerOf(must(await client.get(definitionPath('things.mirrored.example.org'))));
      t.match(controller, { kind: 'ProviderRevision', name: revisionOf('mirrored', digest) });
    });
});
