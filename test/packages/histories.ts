// Generated histories of packages: the releases in a registry, and what users, the registry and the processes do, in bursts.
// Nothing is under way between two bursts. A package requires only packages after it.
import fc from 'fast-check';

export const names = ['a', 'b', 'c'] as const;
const versions = ['v1.0.0', 'v1.1.0', 'v2.0.0'] as const;

export type Name = (typeof names)[number];

interface Release {
  readonly name: Name;
  readonly version: string;
  /** Constraints by the names of packages. */
  readonly requires: Readonly<Record<string, string>>;
}

export type Action =
  /** `kubectl apply`: installs, updates, downgrades, or edits a Package that is being deleted. */
  | { readonly kind: 'apply'; readonly name: Name; readonly version: string }
  | { readonly kind: 'delete'; readonly name: Name }
  /** Creates an instance of a CRD, or deletes it. */
  | { readonly kind: 'instance'; readonly name: Name }
  /** Another image gets the tag. */
  | { readonly kind: 'moveTag'; readonly name: Name; readonly version: string }
  /** A user edits the spec of the Package, makes its revision Inactive, labels its CRD, or deletes its newest package transaction. */
  | { readonly kind: 'edit'; readonly name: Name; readonly what: 'settings' | 'state' | 'label' | 'transaction' }
  /** The registry drops so many requests. */
  | { readonly kind: 'away'; readonly requests: number }
  /** Both hooks end at once and without notice, and start again. */
  | { readonly kind: 'kill' };

export interface Step {
  readonly action: Action;
  /** The number of calls about Packages before the action. The action comes earlier if nothing is under way. */
  readonly after: number;
}

export interface History {
  readonly releases: readonly Release[];
  readonly bursts: readonly (readonly Step[])[];
}

const constraint = fc.constantFrom('>=v1.0.0', '^v1.0.0', '>=v1.1.0', '<v2.0.0');

function releaseOf(name: Name, version: string): fc.Arbitrary<Release> {
  const later = names.slice(names.indexOf(name) + 1);
  return fc
    .subarray([...later])
    .chain((some) => fc.tuple(...some.map((one) => constraint.map((words) => [one, words] as const))))
    .map((requires) => ({ name, version, requires: Object.fromEntries(requires) }));
}

const releases = fc.tuple(...names.flatMap((name) => versions.map((version) => releaseOf(name, version))));

const name = fc.constantFrom(...names);
const version = fc.constantFrom(...versions);
const of = <Kind extends Action['kind']>(kind: Kind) => fc.constant(kind);

const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: of('apply'), name, version }) },
  { weight: 4, arbitrary: fc.record({ kind: of('delete'), name }) },
  { weight: 2, arbitrary: fc.record({ kind: of('instance'), name }) },
  { weight: 1, arbitrary: fc.record({ kind: of('moveTag'), name, version }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: of('edit'), name, what: fc.constantFrom('settings', 'state', 'label', 'transaction') }),
  },
  { weight: 1, arbitrary: fc.record({ kind: of('away'), requests: fc.integer({ min: 1, max: 6 }) }) },
  { weight: 2, arbitrary: fc.record({ kind: of('kill') }) },
);

const burst = fc.array(fc.record({ action, after: fc.nat(12) }), { minLength: 1, maxLength: 4 });

const first: Step = { action: { kind: 'apply', name: 'a', version: 'v1.0.0' }, after: 0 };

export const histories: fc.Arbitrary<History> = fc.record({
  releases,
  bursts: fc.array(burst, { minLength: 2, maxLength: 4 }).map((bursts) => [[first], ...bursts]),
});
