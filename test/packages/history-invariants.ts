// What must hold when nothing of a generated history (histories.ts) is under way.

import { admits, readConstraint } from '../../hooks/crossplane/model/constraint.ts';
import { ownName } from '../../hooks/crossplane/model/own.ts';
import { readCompleteVersion } from '../../hooks/crossplane/model/version.ts';
import { at, type JsonObject, objectsAt, textAt } from '../../hooks/objects/json.ts';
import { definitionPath, lockPath } from '../support/package-paths.ts';
import { conditionIn, statusOf } from '../support/package-world.ts';
import { type Name, names } from './histories.ts';
import {
  crdName,
  entryOf,
  isTerminating,
  pluralsOf,
  providerPath,
  type Running,
  revisionsOf,
  sourceOf,
  transactionsOf,
} from './history-run.ts';

/** What does not hold, in words. */
export async function violationsOf(run: Running): Promise<readonly string[]> {
  const { client } = run.world;
  const lock = (await client.get(lockPath)).body;
  const holder = textAt(lock, 'metadata', 'annotations', 'pkg.crossplane.io/current-transaction');
  const found = await Promise.all(names.map((name) => ofPackage(run, name)));
  return [
    ...(holder === undefined ? [] : [`the Lock is held by ${holder}`]),
    ...found.flat(),
    ...(await lostInstances(run)),
    ...(await lostLabels(run)),
    ...tooManyWrites(run),
  ];
}

async function lostInstances({ world: { client }, instances }: Running): Promise<readonly string[]> {
  const found = await Promise.all(
    [...instances].map(async ([path, uid]) => (textAt((await client.get(path)).body, 'metadata', 'uid') === uid ? [] : [path])),
  );
  return found.flat().map((path) => `the instance ${path} is gone`);
}

/** A CRD that a Delete has deleted loses its labels. */
async function lostLabels({ world: { client }, labelled }: Running): Promise<readonly string[]> {
  const found = await Promise.all(
    [...labelled].map(async ([path, uid]) => {
      const { body } = await client.get(path);
      return textAt(body, 'metadata', 'uid') !== uid || textAt(body, 'metadata', 'labels', 'team') === 'mine' ? [] : [path];
    }),
  );
  return found.flat().map((path) => `${path} has lost the label of a user`);
}

/** A try writes a CRD once, and once more if it is undone. So does the deletion of a package transaction that a CRD names. */
function tooManyWrites(run: Running): readonly string[] {
  const { tries, successes, writes } = run.noted;
  const ended = writes.filter((one) => one.startsWith('DELETE transactions ')).length + run.deleted;
  const most = tries + (tries - successes) + ended;
  return names
    .flatMap((name) => ['ones', 'twos'].map((plural) => crdName(run, name, plural)))
    .flatMap((crd) => {
      const count = writes.filter((one) => one.endsWith(` customresourcedefinitions ${crd}`)).length;
      return count <= most ? [] : [`CRD ${crd} is written ${count} times in ${tries} tries, ${successes} of which succeeded`];
    });
}

interface Found {
  readonly entry: JsonObject | undefined;
  readonly tag: string;
  readonly digest: string;
  /** The revision that the Lock names. */
  readonly revision: JsonObject | undefined;
  readonly revisions: readonly JsonObject[];
  readonly provider: JsonObject | undefined;
}

async function ofPackage(run: Running, name: Name): Promise<readonly string[]> {
  const [entry, revisions] = [await entryOf(run, name), await revisionsOf(run, name)];
  const { code, body } = await run.world.client.get(providerPath(run, name));
  const [tag = '', digest = ''] = (textAt(entry, 'version') ?? '').split('@');
  const revision = revisions.find((one) => textAt(one, 'metadata', 'name') === textAt(entry, 'name'));
  const found = { entry, tag, digest, revision, revisions, provider: code === 200 ? body : undefined };
  const faults = [
    ...ofRevisions(run, name, found),
    ...(await ofDefinitions(run, name, found)),
    ...(await ofRequirements(run, found)),
    ...(await ofProvider(run, name, found)),
  ];
  return faults.map((fault) => `${name}: ${fault}`);
}

/** The Lock has exactly what is there. */
function ofRevisions(run: Running, name: Name, { entry, revision, revisions, provider, digest }: Found): readonly string[] {
  const active = revisions.filter((one) => textAt(one, 'spec', 'desiredState') === 'Active');
  if (active.length > 0) run.inactive.delete(name);
  if (entry === undefined) return revisions.length === 0 ? [] : [`${revisions.length} revisions, and no entry in the Lock`];
  const image = `${sourceOf(run, name)}@${digest}`;
  const isRight = active.length === 1 && active[0] === revision && textAt(revision, 'spec', 'image') === image;
  const faults: readonly (readonly [isThere: boolean, words: string])[] = [
    [provider === undefined, 'an entry in the Lock, and no Package'],
    [!isRight && !run.inactive.has(name), `${JSON.stringify(active)} are Active, the Lock has ${JSON.stringify(entry)}`],
    [revisions.length - active.length > 1, `${revisions.length} revisions`],
  ];
  return faults.flatMap(([isThere, words]) => (isThere ? [words] : []));
}

/** Each CRD has exactly one controller, the revision. What a version has left out stays, without a controller. */
async function ofDefinitions(run: Running, name: Name, { entry, tag, revision }: Found): Promise<readonly string[]> {
  const held = entry === undefined ? [] : pluralsOf(tag);
  const found = await Promise.all(
    ['ones', 'twos'].map(async (plural) => {
      const { code, body } = await run.world.client.get(definitionPath(crdName(run, name, plural)));
      const controllers = objectsAt(body, 'metadata', 'ownerReferences').filter((owner) => owner.controller === true);
      const [only] = controllers;
      const isHeld = controllers.length === 1 && only?.uid === textAt(revision, 'metadata', 'uid') && !isTerminating(body);
      const isFree = code === 404 || (plural === 'twos' && controllers.length === 0);
      return (held.includes(plural) ? isHeld : isFree)
        ? []
        : [`CRD ${plural}: ${code}, controlled by ${JSON.stringify(controllers)}, the Lock has ${tag}`];
    }),
  );
  return found.flat();
}

async function ofRequirements(run: Running, { entry }: Found): Promise<readonly string[]> {
  const found = await Promise.all(
    objectsAt(entry, 'dependencies').map(async (one) => {
      const needed = names.find((name) => sourceOf(run, name) === one.package);
      const [tag = ''] = needed === undefined ? [] : (textAt(await entryOf(run, needed), 'version') ?? '').split('@');
      const [constraint, version] = [readConstraint(textAt(one, 'constraints') ?? ''), readCompleteVersion(tag)];
      const isMet = constraint !== undefined && version !== undefined && admits(constraint, version);
      return isMet ? [] : [`it requires ${JSON.stringify(one)}, the Lock has ${tag}`];
    }),
  );
  return found.flat();
}

const refusals = ['VersionConflict', 'MissingDependency', 'Unavailable'];

/** It says what is installed, or why not, and has at most one package transaction for each of its generations. */
async function ofProvider(run: Running, name: Name, { provider, tag }: Found): Promise<readonly string[]> {
  if (provider === undefined) return [];
  const generations = Array.from({ length: Number(at(provider, 'metadata', 'generation')) }, (_, index) => index + 1);
  const known = generations.map((generation) => {
    return ownName('Provider', { metadata: { name: textAt(provider, 'metadata', 'name') ?? '', generation } });
  });
  const made = (await transactionsOf(run, provider)).map((one) => textAt(one, 'metadata', 'name') ?? '');
  const strange = made.filter((one) => !known.includes(one)).map((one) => `${one} belongs to no generation`);
  const { status, reason = '' } = conditionIn(statusOf(provider), 'Installed') ?? {};
  const isInstalled = status === 'True' && reason === 'ActivePackageRevision';
  const isRight = isInstalled
    ? at(provider, 'spec', 'package') === `${sourceOf(run, name)}:${tag}`
    : isTerminating(provider) || refusals.includes(reason) || run.inactive.has(name);
  return isRight ? strange : [...strange, `${JSON.stringify(provider)}, the Lock has ${tag}`];
}
