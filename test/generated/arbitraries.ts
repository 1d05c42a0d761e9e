// What a generated run is made of: objects as several people made them, one change for each, where it ends, and what others do
// meanwhile. All values are small sets, so that changes meet each other often.
import fc from 'fast-check';
import type { JsonObject } from '../../hooks/model/json.ts';

export type Kind = 'ConfigMap' | 'Secret' | 'Widget' | 'Service';
export type ChangeType = 'Create' | 'Update' | 'Patch' | 'Delete';

/** Somebody's write to an object; each has a manager of its own. */
export interface Write {
  readonly how: 'apply' | 'merge';
  readonly content: JsonObject;
}

export interface Target {
  readonly kind: Kind;
  readonly type: ChangeType;
  /** How the object came to be what it is; unused for a Create. */
  readonly origin: JsonObject;
  readonly history: readonly Write[];
  readonly content: JsonObject;
}

/** Between two calls of the hook. */
export interface Foreign extends Write {
  readonly afterCall: number;
  readonly target: number;
}

export type Ending =
  | { readonly kind: 'undone after the commit' }
  /** A rollback is requested after so many calls. */
  | { readonly kind: 'stopped'; readonly afterCall: number }
  /** The API server refuses the change of that number. */
  | { readonly kind: 'refused'; readonly change: number };

export interface Plan {
  readonly targets: readonly Target[];
  readonly ending: Ending;
  readonly foreign: readonly Foreign[];
}

const value = fc.constantFrom('1', '2', '3', '');

function mapOf(keys: readonly string[], values: fc.Arbitrary<string> = value): fc.Arbitrary<JsonObject> {
  return fc.dictionary(fc.constantFrom(...keys), values, { minKeys: 1, maxKeys: 3 });
}

function optional(
  model: Readonly<Record<string, fc.Arbitrary<unknown>>>,
  required: readonly string[] = [],
): fc.Arbitrary<JsonObject> {
  return fc.record(model, { requiredKeys: [...required] }) as fc.Arbitrary<JsonObject>;
}

function byName(items: fc.Arbitrary<JsonObject>, key: (item: JsonObject) => unknown): fc.Arbitrary<readonly JsonObject[]> {
  return fc.uniqueArray(items, { minLength: 1, maxLength: 3, selector: key });
}

const metadata = optional({ labels: mapOf(['team', 'tier', 'track']), annotations: mapOf(['note', 'contact', 'ticket']) });

const parts = byName(
  optional({ name: fc.constantFrom('x', 'y', 'z'), count: fc.integer({ min: 0, max: 3 }), options: mapOf(['fast', 'safe']) }, [
    'name',
  ]),
  ({ name }) => name,
);

const widgetSpec = optional({
  size: fc.integer({ min: 0, max: 3 }),
  color: value,
  parts,
  tags: fc.uniqueArray(fc.constantFrom('p', 'q', 'r'), { maxLength: 3 }),
  notes: fc.array(value, { maxLength: 3 }),
  free: mapOf(['left', 'right']),
});

const ports = byName(
  fc.constantFrom(80, 81, 82).map((port): JsonObject => ({ name: `p${port}`, port, protocol: 'TCP' })),
  ({ port }) => port,
);

export const bodies: Readonly<Record<Kind, fc.Arbitrary<JsonObject>>> = {
  ConfigMap: optional({ metadata, data: mapOf(['a', 'b', 'c', 'd']) }),
  Secret: optional({ metadata, data: mapOf(['a', 'b', 'c', 'd'], fc.constantFrom('MQ==', 'Mg==', 'Mw==')) }),
  Widget: optional({ metadata, spec: widgetSpec }, ['spec']),
  Service: optional({ metadata, spec: optional({ ports, selector: mapOf(['app', 'tier']) }, ['ports']) }, ['spec']),
};

/** What a merge patch writes: maps, since it would replace lists whole. */
const maps: Readonly<Record<Kind, fc.Arbitrary<JsonObject>>> = {
  ConfigMap: bodies.ConfigMap,
  Secret: bodies.Secret,
  Widget: optional({ metadata, spec: optional({ color: value, free: mapOf(['left', 'right']) }) }),
  Service: optional({ metadata, spec: optional({ selector: mapOf(['app', 'tier']) }) }),
};

export function writeTo(kind: Kind): fc.Arbitrary<Write> {
  return fc.oneof(
    bodies[kind].map((content): Write => ({ how: 'apply', content })),
    maps[kind].map((content): Write => ({ how: 'merge', content })),
  );
}

const kind = fc.constantFrom<Kind>('ConfigMap', 'Secret', 'Widget', 'Service');

const target: fc.Arbitrary<Target> = kind.chain((kind) =>
  fc.record({
    kind: fc.constant(kind),
    type: fc.constantFrom<ChangeType>('Create', 'Update', 'Patch', 'Patch', 'Delete'),
    origin: bodies[kind],
    history: fc.array(writeTo(kind), { maxLength: 2 }),
    content: bodies[kind],
  }),
);

function foreignTo(targets: readonly Target[]): fc.Arbitrary<Foreign> {
  const index = fc.nat({ max: targets.length - 1 });
  return fc
    .tuple(index, fc.nat({ max: 2 * targets.length + 5 }))
    .chain(([target, afterCall]) =>
      writeTo(targets[target]?.kind ?? 'ConfigMap').map((write) => ({ ...write, target, afterCall })),
    );
}

function endingOf(targets: number): fc.Arbitrary<Ending> {
  return fc.oneof(
    fc.constant<Ending>({ kind: 'undone after the commit' }),
    fc.nat({ max: targets + 2 }).map((afterCall): Ending => ({ kind: 'stopped', afterCall })),
    fc.nat({ max: targets - 1 }).map((change): Ending => ({ kind: 'refused', change })),
  );
}

/** Half of the runs have the cluster for themselves: then everything must be as before, to the last managed field. */
export const plan: fc.Arbitrary<Plan> = fc.array(target, { minLength: 1, maxLength: 4 }).chain((targets) =>
  fc.record({
    targets: fc.constant(targets),
    ending: endingOf(targets.length),
    foreign: fc.oneof(fc.constant([]), fc.array(foreignTo(targets), { minLength: 1, maxLength: 4 })),
  }),
);
