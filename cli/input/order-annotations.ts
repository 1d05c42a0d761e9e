// Annotations by which Helm, Argo CD and kapp order objects. Those of Argo CD become waves; a hook of Helm would run at the wrong time. Pure.
import { at, isObject, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { foreign } from '../../hooks/objects/words.ts';
import { Problem } from '../problem.ts';
import type { Manifest } from './read.ts';
import { isTransaction } from './release.ts';
import { waved } from './waves.ts';

interface Sifted {
  readonly manifests: readonly Manifest[];
  /** What the user must know, in sentences. */
  readonly notes: readonly string[];
}

const hook = 'helm.sh/hook';

/** Throws a Problem that names each hook of Helm, unless they are ignored. */
export function sifted(manifests: readonly Manifest[], areHooksIgnored: boolean): Sifted {
  if (manifests.some(({ object }) => isTransaction(object))) return { manifests, notes: [] };
  const hooks = manifests.filter(({ object }) => eventsOf(object) !== undefined);
  if (hooks.length > 0 && !areHooksIgnored) throw new Problem(refusal(hooks));
  const leftOut = hooks.filter(({ object }) => !isForRelease(object));
  const { manifests: kept, leftOut: notForRelease } = waved(manifests.filter((one) => !leftOut.includes(one)));
  const applied = hooks.filter((one) => !leftOut.includes(one));
  const argoNamed = ({ object }: Manifest): string => named(object, textAt(object, 'metadata', 'annotations', argoHook) ?? '');
  const notes = [
    ...sentence('Helm hooks that are left out, because they are not for install or upgrade', leftOut.map(hookNamed)),
    ...sentence('Helm hooks that are applied as ordinary objects, in the order of kinds', applied.map(hookNamed)),
    ...sentence('Hooks of Argo CD that are left out, because they are not for a release', notForRelease.map(argoNamed)),
    ...orderNotes(kept),
    ...waveNotes(kept),
  ];
  if (kept.length === 0) throw new Problem(`No manifest is left. ${notes.join(' ')}`);
  return { manifests: kept, notes };
}

function waveNotes(manifests: readonly Manifest[]): readonly string[] {
  const { size } = new Set(manifests.map(({ wave }) => wave));
  return size > 1 ? [`The release has ${size} waves: each begins when the one before it is ready.`] : [];
}

function refusal(hooks: readonly Manifest[]): string {
  const names = hooks.map((one) => `${hookNamed(one)} in ${one.source}`);
  return `These objects are Helm hooks, and apply does not run them when Helm would: ${listed(names)}. Leave them out, or give --helm-hooks=ignore: it leaves out hooks that are not for install or upgrade, and applies the others as ordinary objects.`;
}

const hookNamed = ({ object }: Manifest): string => named(object, eventsOf(object) ?? '');

/** Such as `pre-install,post-upgrade`. */
function eventsOf(object: JsonObject): string | undefined {
  return textAt(object, 'metadata', 'annotations', hook);
}

function isForRelease(object: JsonObject): boolean {
  return (eventsOf(object) ?? '').split(',').some((event) => /^\s*(pre|post)-(install|upgrade)\s*$/.test(event));
}

const argoHook = 'argocd.argoproj.io/hook';
const orders = /^kapp\.k14s\.io\/change-(group|rule)(\..*)?$/;

/** One warning for each annotation. */
function orderNotes(manifests: readonly Manifest[]): readonly string[] {
  const found = manifests.flatMap(({ object }) => {
    const annotations = at(object, 'metadata', 'annotations');
    if (!isObject(annotations)) return [];
    return Object.keys(annotations)
      .filter((key) => orders.test(key))
      .map((key) => ({ key, name: named(object, textAt(annotations, key) ?? '') }));
  });
  return [...Map.groupBy(found, ({ key }) => key)].flatMap(([key, same]) =>
    sentence(
      `Warning: ${foreign(key, longest)} has no effect, objects are applied in the order of kinds`,
      same.map(({ name }) => name),
    ),
  );
}

const longest = 100;
const mostNamed = 50;

function named(object: JsonObject, value: string): string {
  const [kind, name] = [textAt(object, 'kind') ?? '', textAt(object, 'metadata', 'name') ?? ''];
  return `${foreign(kind, longest)} ${foreign(name, longest)} (${foreign(value, longest)})`;
}

function sentence(beginning: string, names: readonly string[]): readonly string[] {
  return names.length === 0 ? [] : [`${beginning}: ${listed(names)}.`];
}

function listed(names: readonly string[]): string {
  const more = names.length > mostNamed ? ` and ${names.length - mostNamed} more` : '';
  return `${names.slice(0, mostNamed).join(', ')}${more}`;
}
