// The wave of each manifest, from annotations: tx.janus.io/wave, or the wave and the hook of Argo CD. Without any of them all are in wave 0.
// Pure. Source: argo-cd docs/user-guide/sync-waves.md.
import { type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { foreign } from '../../hooks/objects/words.ts';
import { lastWave } from '../../hooks/transactions/model/change.ts';
import { Problem } from '../problem.ts';
import type { Manifest } from './read.ts';

const names = { own: 'tx.janus.io/wave', wave: 'argocd.argoproj.io/sync-wave', hook: 'argocd.argoproj.io/hook' } as const;

/** The phases of Argo CD that a release has, in their order. */
const phases: Readonly<Record<string, number>> = { PreSync: -1, Sync: 0, PostSync: 1 };
/** Hooks of Argo CD for something else than a release. */
const otherHooks: readonly string[] = ['SyncFail', 'Skip', 'PreDelete', 'PostDelete'];

interface WithWaves {
  /** With `wave`, if any manifest has such an annotation. */
  readonly manifests: readonly Manifest[];
  /** Hooks of Argo CD that are not for a release. */
  readonly leftOut: readonly Manifest[];
}

/** Throws a Problem for an annotation that says no wave, or for two that disagree. */
export function waved(all: readonly Manifest[]): WithWaves {
  const leftOut = all.filter(({ object }) => eventsOf(object).some((event) => otherHooks.includes(event)));
  const manifests = all.filter((one) => !leftOut.includes(one));
  if (!manifests.some(({ object }) => Object.values(names).some((name) => annotation(object, name) !== undefined)))
    return { manifests, leftOut };
  const places = manifests.map(placeOf);
  const ranks = [...new Set(places)].toSorted((one, other) => one - other);
  return { manifests: manifests.map((one, index) => ({ ...one, wave: ranks.indexOf(places[index] ?? 0) })), leftOut };
}

/** More than Argo CD's waves, which are 32-bit integers. */
const perPhase = 2 ** 34;

function placeOf(manifest: Manifest): number {
  const own = numberOf(manifest, names.own);
  const wave = numberOf(manifest, names.wave);
  const phase = phaseOf(manifest);
  if (own === undefined) return phase * perPhase + (wave ?? 0);
  if (own < 0 || own > lastWave) throw wrong(manifest, names.own, `an integer from 0 to ${lastWave}`);
  if ((wave !== undefined && wave !== own) || phase !== 0)
    throw new Problem(`${named(manifest)} has ${names.own} and another wave or hook of Argo CD: leave one of them out.`);
  return own;
}

function numberOf(manifest: Manifest, name: string): number | undefined {
  const text = annotation(manifest.object, name);
  if (text === undefined) return undefined;
  if (!/^-?\d{1,10}$/.test(text)) throw wrong(manifest, name, 'an integer');
  return Number(text);
}

function phaseOf(manifest: Manifest): number {
  const events = eventsOf(manifest.object);
  const [first = 0] = events.map((event) => phases[event]);
  if (events.some((event) => phases[event] === undefined))
    throw wrong(manifest, names.hook, [...Object.keys(phases), ...otherHooks].join(', '));
  return first;
}

function eventsOf(object: JsonObject): readonly string[] {
  return (
    annotation(object, names.hook)
      ?.split(',')
      .map((event) => event.trim()) ?? []
  );
}

function annotation(object: JsonObject, name: string): string | undefined {
  return textAt(object, 'metadata', 'annotations', name);
}

function wrong(manifest: Manifest, name: string, expected: string): Problem {
  const found = foreign(annotation(manifest.object, name) ?? '', 60);
  return new Problem(`${named(manifest)}: annotation ${name}: expected ${expected}; found "${found}".`);
}

function named({ source, object }: Manifest): string {
  return `${source}: ${foreign(textAt(object, 'kind') ?? '', 100)} ${foreign(textAt(object, 'metadata', 'name') ?? '', 100)}`;
}
