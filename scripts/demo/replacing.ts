// The last acts of `npm run demo -- packages`: a Provider whose CRDs have instances is not deleted, but another vendor's Provider takes its
// place, with its family. The instances stay.
import { type JsonObject, objectsAt, textAt } from '../../hooks/objects/json.ts';
import { must } from '../../test/support/client.ts';
import { lockPath, packagePath, ptxPath } from '../../test/support/package-paths.ts';
import { conditionIn, type PackageWorld } from '../../test/support/package-world.ts';
import { definitionOf } from '../../test/support/registry/builder.ts';
import { replace } from '../../test/support/replacing.ts';
import type { Checks } from './checks.ts';
import { explain, heading, literal, progress } from './terminal.ts';

interface Stage {
  readonly world: PackageWorld;
  readonly checks: Checks;
  readonly group: string;
  /** The path of an instance that must stay. */
  readonly instance: string;
  /** The schema of `spec` with these fields. */
  readonly schema: (...fields: readonly string[]) => object;
  /** Resolves once Crossplane runs the package, if the demo has a Crossplane. */
  readonly runs: (packageName: string) => Promise<void>;
}

const shown = ['Validated', 'Installed', 'Ready'];

async function ended({ world }: Stage, name: string): Promise<JsonObject> {
  const status = await world.finished(name);
  for (const type of shown) {
    const found = conditionIn(status, type);
    literal(`${type} ${found?.status}/${found?.reason}: ${found?.message}`);
  }
  return status;
}

export async function showReplacement(stage: Stage): Promise<void> {
  const before = must(await stage.world.client.get(stage.instance));
  await refusedDeletion(stage);
  await movedFamily(stage);
  const after = must(await stage.world.client.get(stage.instance));
  stage.checks.that('the Bucket has outlived its vendor', JSON.stringify(after) === JSON.stringify(before), after);
}

async function refusedDeletion(stage: Stage): Promise<void> {
  const { world, checks } = stage;
  heading('A deletion that would take instances along');
  explain('A CRD that goes takes its instances with it. So the hook counts them before it deletes anything.');
  const spec = { change: 'Delete', delete: { source: world.source('s3') }, retryLimit: 1 };
  const object = { apiVersion: 'pkg.crossplane.io/v1alpha1', kind: 'Transaction', metadata: { name: 'gone' }, spec };
  must(await world.client.create(ptxPath(), object));
  progress(`kubectl create: package transaction gone deletes ${world.source('s3')}`);
  const status = await ended(stage, 'gone');
  const reason = conditionIn(status, 'Validated')?.reason;
  checks.that('the deletion is refused, because instances are in use', reason === 'ResourcesInUse', reason);
}

async function movedFamily(stage: Stage): Promise<void> {
  const { world, checks, group, schema } = stage;
  heading('Another vendor');
  explain('Another vendor has a family with the same CRDs. Their control moves CRD by CRD; then the old family is deleted.');
  await world.publish({ name: 'other/family', tag: 'v1.1.0', objects: [definitionOf('configs', group)] });
  const objects = ['buckets', 'policies'].map((plural) => definitionOf(plural, group, schema('region', 'acl')));
  await world.publish({ name: 'other/s3', tag: 'v1.1.0', requires: { 'other/family': '>=v1.1.0' }, objects });
  const wish = { from: world.source('s3'), to: `${world.source('other/s3')}:v1.1.0`, packageName: 's3-other' };
  await replace(world, 'moved', wish);
  progress(`kubectl create: package transaction moved replaces ${wish.from} by ${wish.to}`);
  const status = await ended(stage, 'moved');
  for (const one of objectsAt(status, 'replaced')) literal(`${textAt(one, 'by')} replaces ${textAt(one, 'source')}`);
  await stage.runs('s3-other');
  const names = (await world.client.list(packagePath('providers'))).items.map((one) => textAt(one, 'metadata', 'name'));
  const sources = objectsAt(must(await world.client.get(lockPath)), 'packages').map((one) => textAt(one, 'source') ?? '');
  checks.that('the old family is gone', names.toSorted().join() === 'acme-other-family,s3-other', names);
  checks.that('the Lock has the new family', sources.length === 2 && sources.every((one) => one.includes('/other/')), sources);
}
