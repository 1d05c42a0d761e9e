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
  /** Where the content lies. */
  readonly lies: 'in spec' | 'ConfigMap' | 'Secret';
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

const described = { labels: mapOf(['team', 'tier', 'track']), annotations: mapOf(['note', 'contact', 'ticket']) };

/** Objects that are there for as long as a run: a run puts their uids in the place of these. */
export const owners = { 'owner-1': 'uid of owner-1', 'owner-2': 'uid of owner-2' } as const;

const owner = fc.constantFrom(
  ...Object.entries(owners).map(([name, uid]) => ({ apiVersion: 'v1', kind: 'ConfigMap', name, uid })),
);

/** Of an object that is never deleted. The lists may be there and be empty. */
const lasting = {
  finalizers: fc.uniqueArray(fc.constantFrom('test.example.org/one', 'test.example.org/two'), { maxLength: 2 }),
  ownerReferences: fc.uniqueArray(owner, { maxLength: 2, selector: ({ name }) => name }),
};

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

type ByKind = Readonly<Record<Kind, fc.Arbitrary<JsonObject>>>;

function bodiesWith(metadata: fc.Arbitrary<JsonObject>): ByKind {
  return {
    ConfigMap: optional({ metadata, data: mapOf(['a', 'b', 'c', 'd']) }),
    Secret: optional({ metadata, data: mapOf(['a', 'b', 'c', 'd'], fc.constantFrom('MQ==', 'Mg==', 'Mw==')) }),
    Widget: optional({ metadata, spec: widgetSpec }, ['spec']),
    Service: optional({ metadata, spec: optional({ ports, selector: mapOf(['app', 'tier']) }, ['ports']) }, ['spec']),
  };
}

/** What a merge patch writes: maps, since it would replace lists whole; finalizers and owners of others are replaced so. */
function mapsWith(metadata: fc.Arbitrary<JsonObject>): ByKind {
  return {
    ...bodiesWith(metadata),
    Widget: optional({ metadata, spec: optional({ color: value, free: mapOf(['left', 'right']) }) }),
    Service: optional({ metadata, spec: optional({ selector: mapOf(['app', 'tier']) }) }),
  };
}

interface Contents {
  readonly bodies: ByKind;
  readonly maps: ByKind;
}

function contentsWith(metadata: fc.Arbitrary<JsonObject>): Contents {
  return { bodies: bodiesWith(metadata), maps: mapsWith(metadata) };
}

const passing = contentsWith(optional(described));
export const { bodies } = passing;
const staying = contentsWith(optional({ ...described, ...lasting }));

/** An object with finalizers cannot be deleted and created again within a run: only what is changed in its place has them. */
function contentsOf(type: ChangeType | undefined): Contents {
  return type === 'Update' || type === 'Patch' ? staying : passing;
}

export function writeTo(type: ChangeType | undefined, kind: Kind): fc.Arbitrary<Write> {
  const contents = contentsOf(type);
  return fc.oneof(
    contents.bodies[kind].map((content): Write => ({ how: 'apply', content })),
    contents.maps[kind].map((content): Write => ({ how: 'merge', content })),
  );
}

const kind = fc.constantFrom<Kind>('ConfigMap', 'Secret', 'Widget', 'Service');

const type = fc.constantFrom<ChangeType>('Create', 'Update', 'Update', 'Patch', 'Patch', 'Delete');

const target: fc.Arbitrary<Target> = fc.tuple(kind, type).chain(([kind, type]) =>
  fc.record({
    kind: fc.constant(kind),
    type: fc.constant(type),
    origin: contentsOf(type).bodies[kind],
    history: fc.array(writeTo(type, kind), { maxLength: 2 }),
    content: contentsOf(type).bodies[kind],
    lies: fc.constantFrom('in spec' as const, 'in spec' as const, 'ConfigMap' as const, 'Secret' as const),
  }),
);

function foreignTo(targets: readonly Target[]): fc.Arbitrary<Foreign> {
  const index = fc.nat({ max: targets.length - 1 });
  return fc
    .tuple(index, fc.nat({ max: 2 * targets.length + 5 }))
    .chain(([target, afterCall]) =>
      writeTo(targets[target]?.type, targets[target]?.kind ?? 'ConfigMap').map((write) => ({ ...write, target, afterCall })),
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
