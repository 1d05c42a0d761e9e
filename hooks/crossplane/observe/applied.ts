// What users and the hook want of installed packages, from the live Packages: the version that a Package names and has not installed yet, and
// whether the hook has chosen the installed version.
//
// What is applied at once is resolved at once: a package transaction may move a required package to the version that its Package names. A
// package alone may have no version that suits the installed packages, while their Packages name other versions. Then it waits for them.
import { isTerminating } from '../../objects/content/ownership.ts';
import { type JsonObject, objectsAt, textAt } from '../../objects/json.ts';
import { inTurn } from '../../objects/requests/in-turn.ts';
import { type Installed, installedKind } from '../model/lock.ts';
import { nameInRevision, sourceOfPackage, stemOf } from '../model/names.ts';
import { makesOwn, type OwnMode } from '../model/own.ts';
import { quoted } from '../model/package.ts';
import { isDigest, readReference } from '../model/reference.ts';
import { chosenAnnotation, packagesOfKind } from '../writes/resources.ts';
import type { Awaiting } from './observation.ts';
import { list, type PackageReader } from './read.ts';
import type { Tree } from './tree.ts';

/** The entries, with what their live Packages say. */
export async function withApplied(
  reader: PackageReader,
  ownMode: OwnMode,
  installed: readonly Installed[],
): Promise<readonly Installed[]> {
  const kinds = [...Map.groupBy(installed, installedKind)];
  const known = new Map<Installed, Installed>();
  await inTurn(kinds, async ([kind, entries]) => {
    if (kind === undefined) return;
    const packages = Map.groupBy(
      await list(reader, packagesOfKind(kind), undefined, { whole: true, keep: inShort }),
      sourceOfPackage,
    );
    for (const entry of entries) {
      const own = packages.get(entry.source)?.find((one) => stemOf(nameOf(one)) === nameInRevision(entry.name));
      if (own !== undefined) known.set(entry, { ...entry, ...saidBy(own, entry, ownMode) });
    }
  });
  return installed.map((one) => known.get(one) ?? one);
}

function inShort(pkg: JsonObject): JsonObject {
  return { metadata: pkg.metadata ?? {}, spec: { package: textAt(pkg, 'spec', 'package') ?? '' } };
}

function saidBy(pkg: JsonObject, entry: Installed, ownMode: OwnMode): Pick<Installed, 'applied' | 'mayGoBack'> {
  const version = readReference(textAt(pkg, 'spec', 'package') ?? '')?.version;
  const present = isDigest(version ?? '') ? entry.digest : entry.tag;
  const isPending = version !== undefined && version !== present && makesOwn(ownMode, pkg) && !isTerminating(pkg);
  const isChosen = version === present && textAt(pkg, 'metadata', 'annotations', chosenAnnotation) === version && !isUsers(pkg);
  return { ...(isPending && { applied: version }), ...(isChosen && { mayGoBack: true }) };
}

/** Whether a field manager other than the stages of package transactions has written the version. */
function isUsers(pkg: JsonObject): boolean {
  const writers = objectsAt(pkg, 'metadata', 'managedFields').filter((one) =>
    JSON.stringify(one.fieldsV1 ?? {}).includes('"f:package"'),
  );
  return writers.some((one) => textAt(one, 'manager')?.startsWith('janus-ptx-') !== true);
}

function nameOf(object: JsonObject): string {
  return textAt(object, 'metadata', 'name') ?? '';
}

const mostNamed = 10;

/**
 * The installed packages for which a refused one waits: their Packages name other versions, and without their present requirements it is
 * not refused. `resolve` resolves among these packages.
 */
export async function awaitedVersions(
  root: string,
  installed: readonly Installed[],
  resolve: (installed: readonly Installed[]) => Promise<Tree>,
): Promise<Awaiting | undefined> {
  const isPending = (one: Installed): boolean => one.applied !== undefined && one.source !== root;
  const pending = installed.filter(isPending);
  if (pending.length === 0) return undefined;
  const tree = await resolve(installed.map((one) => (isPending(one) ? { ...one, dependencies: [] } : one)));
  if (tree.kind !== 'resolved') return undefined;
  const sources = new Set(tree.packages.map(({ source }) => source));
  const requiring = pending.filter(({ dependencies }) => dependencies.some((one) => sources.has(one.package)));
  if (requiring.length === 0) return undefined;
  const words = requiring.slice(0, mostNamed).map((one) => {
    const what = `${installedKind(one)} ${quoted(nameInRevision(one.name))}`;
    return `${what} requires another version as it is installed, and goes to ${one.applied} first: read the condition Installed of ${what}`;
  });
  return { kind: 'awaiting', message: words.join('; ') };
}
