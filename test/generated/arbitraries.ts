// What a generated run is made of: objects as several people made them, one change for each, where it ends, and what others do
// meanwhile. All values are small sets, so that changes meet each other often.
import fc from 'fast-check';
import type { JsonObject } from '../../hooks/objects/json.ts';
import type { changeTypes } from '../../hooks/transactions/model/change.ts';

export type Kind = 'ConfigMap' | 'Secret' | 'Widget' | 'Service';
export type ChangeType = (typeof changeTypes)[number];

/** The field manager of the releases of one application. */
export const releases = 'releases';

/** Somebody's write to an object; each has a manager of its own. */
export interface Write {
  readonly how: 'apply' | 'merge';
  readonly content: JsonObject;
  /** An earlier release: applied under the manager that all releases share. */
  readonly isRelease?: boolean;
}

export interface Target {
  readonly kind: Kind;
  readonly type: ChangeType;
  /** An Apply creates a missing object; other changes need their objects, a Create needs none. */
  readonly isThere: boolean;
  /** It may delete its object and create it again: `whenImmutable: Recreate`. */
  readonly recreates: boolean;
  /** How the object came to be what it is; unused where it is not there. */
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
  /** The API server refuses the change of that number; where it recreates its object, its Delete or its Create. */
  | { readonly kind: 'refused'; readonly change: number; readonly half: 'Delete' | 'Create' };

export interface Plan {
  /** `spec.fieldManager`; empty: each Apply writes under the Transaction's own. */
  readonly fieldManager: string;
  readonly targets: readonly Target[];
  /** A Namespace that the Transaction itself creates holds all its objects: no dry run of them is possible. */
  readonly isInstall?: true;
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

const widgetModel = {
  size: fc.integer({ min: 0, max: 3 }),
  color: value,
  parts,
  tags: fc.uniqueArray(fc.constantFrom('p', 'q', 'r'), { maxLength: 3 }),
  notes: fc.array(value, { maxLength: 3 }),
  free: mapOf(['left', 'right']),
};

const widgetSpec = optional(widgetModel);

const ports = byName(
  // The API server adds the protocol, which is a key of the list.
  fc
    .tuple(fc.constantFrom(80, 81, 82), fc.constantFrom({}, { protocol: 'TCP' }))
    .map(([port, protocol]): JsonObject => ({ name: `p${port}`, port, ...protocol })),
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

/** What a merge patch writes: maps, since it would replace lists whole; it also replaces finalizers and owners of other writers. */
function mapsWith(metadata: fc.Arbitrary<JsonObject>): ByKind {
  return {
    ...bodiesWith(metadata),
    Widget: optional({ metadata, spec: optional({ color: value, free: mapOf(['left', 'right']) }) }),
    Service: optional({ metadata, spec: optional({ selector: mapOf(['app', 'tier']) }) }),
  };
}

/** Objects of which some fields cannot be changed in place: what is immutable meets what is not, and other values. */
function fixedWith(metadata: fc.Arbitrary<JsonObject>): ByKind {
  const data = mapOf(['a', 'b'], fc.constantFrom('MQ==', 'Mg=='));
  const immutable = fc.constantFrom(true, true, false);
  return {
    ConfigMap: optional({ metadata, data, immutable }),
    Secret: fc.oneof(
      optional({ metadata, data, immutable }),
      optional({ metadata, data, type: fc.constantFrom('example.org/one', 'example.org/two') }, ['type']),
    ),
    Widget: optional({ metadata, spec: optional({ ...widgetModel, fixed: fc.constantFrom('one', 'two') }, ['fixed']) }, ['spec']),
    Service: optional(
      { metadata, spec: optional({ ports, selector: mapOf(['app', 'tier']), clusterIP: fc.constant('None') }, ['ports']) },
      ['spec'],
    ),
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

export const fixedBodies = fixedWith(optional(described));
const fixed: Contents = { bodies: fixedBodies, maps: passing.maps };

type Changed = Pick<Target, 'type' | 'recreates' | 'isThere'>;

/** An object with finalizers cannot be deleted and created again within a run: only what is changed in its place has them. */
function contentsOf(changed: Changed | undefined): Contents {
  if (changed?.recreates === true) return fixed;
  const isInPlace = changed?.isThere === true && changed.type !== 'Delete';
  return isInPlace ? staying : passing;
}

export function writeTo(changed: Changed | undefined, kind: Kind): fc.Arbitrary<Write> {
  const contents = contentsOf(changed);
  return fc.oneof(
    contents.bodies[kind].map((content): Write => ({ how: 'apply', content })),
    contents.maps[kind].map((content): Write => ({ how: 'merge', content })),
  );
}

/** What came before, earlier releases of these manifests among it. */
function pastOf(changed: Changed, kind: Kind): fc.Arbitrary<Write> {
  const release = contentsOf(changed).bodies[kind].map((content): Write => ({ how: 'apply', content, isRelease: true }));
  return changed.type === 'Apply' ? fc.oneof(writeTo(changed, kind), release) : writeTo(changed, kind);
}

const kind = fc.constantFrom<Kind>('ConfigMap', 'Secret', 'Widget', 'Service');

const there = { isThere: true, recreates: false };
const fixedThere = { isThere: true, recreates: true };

const changed = fc.constantFrom<Changed>(
  { type: 'Create', isThere: false, recreates: false },
  { type: 'Update', ...there },
  { type: 'Update', ...there },
  { type: 'Patch', ...there },
  { type: 'Patch', ...there },
  { type: 'Delete', ...there },
  { type: 'Apply', isThere: false, recreates: false },
  { type: 'Apply', ...there },
  { type: 'Apply', ...there },
  { type: 'Update', ...fixedThere },
  { type: 'Apply', ...fixedThere },
);

const targetOf = (changed: fc.Arbitrary<Changed>): fc.Arbitrary<Target> =>
  fc.tuple(kind, changed).chain(([kind, changed]) =>
    fc.record({
      kind: fc.constant(kind),
      type: fc.constant(changed.type),
      isThere: fc.constant(changed.isThere),
      recreates: fc.constant(changed.recreates),
      origin: contentsOf(changed).bodies[kind],
      history: fc.array(pastOf(changed, kind), { maxLength: 2 }),
      content: contentsOf(changed).bodies[kind],
      lies: fc.constantFrom('in spec' as const, 'in spec' as const, 'ConfigMap' as const, 'Secret' as const),
    }),
  );

function foreignTo(targets: readonly Target[]): fc.Arbitrary<Foreign> {
  const index = fc.nat({ max: targets.length - 1 });
  return fc
    .tuple(index, fc.nat({ max: 2 * targets.length + 5 }))
    .chain(([target, afterCall]) =>
      writeTo(targets[target], targets[target]?.kind ?? 'ConfigMap').map((write) => ({ ...write, target, afterCall })),
    );
}

function endingOf(targets: number): fc.Arbitrary<Ending> {
  return fc.oneof(
    fc.constant<Ending>({ kind: 'undone after the commit' }),
    fc.nat({ max: targets + 2 }).map((afterCall): Ending => ({ kind: 'stopped', afterCall })),
    fc.record({
      kind: fc.constant('refused' as const),
      change: fc.nat({ max: targets - 1 }),
      half: fc.constantFrom('Delete' as const, 'Create' as const),
    }),
  );
}

const [target, newTarget] = [changed, changed.filter(({ isThere }) => !isThere)].map(targetOf) as [
  fc.Arbitrary<Target>,
  fc.Arbitrary<Target>,
];

function planFor(targets: readonly Target[]): fc.Arbitrary<Plan> {
  return fc.record({
    fieldManager: fc.constantFrom(releases, releases, ''),
    targets: fc.constant(targets),
    ending: endingOf(targets.length),
    foreign: fc.oneof(fc.constant([]), fc.array(foreignTo(targets), { minLength: 1, maxLength: 4 })),
  });
}

/** Half of the runs have the cluster for themselves: then everything must be as before, to the last managed field. */
export const plan: fc.Arbitrary<Plan> = fc.array(target, { minLength: 1, maxLength: 4 }).chain(planFor);

/** An install with its Namespace. */
export const install: fc.Arbitrary<Plan> = fc
  .array(
    newTarget.map((one): Target => ({ ...one, lies: 'in spec' })),
    { minLength: 2, maxLength: 4 },
  )
  .chain(planFor)
  .map((one): Plan => ({ ...one, isInstall: true }));

const keyless = {
  ports: [
    { name: 'p80', port: 80 },
    { name: 'p81', port: 81 },
  ],
};

const untriedService: Target = {
  ...{ kind: 'Service', type: 'Apply', isThere: false, recreates: false, lies: 'in spec', history: [] },
  ...{ origin: { spec: keyless }, content: { spec: keyless } },
};

const untriedAgain: Target = {
  ...untriedService,
  isThere: true,
  recreates: true,
  content: { spec: { ...keyless, clusterIP: 'None' } },
};

const alone = { fieldManager: releases, ending: { kind: 'undone after the commit' }, foreign: [] } as const;

/** A Service without protocols is made where no dry run can show them: with its Namespace, and again. */
export const untried: readonly Plan[] = [
  { ...alone, targets: [untriedService], isInstall: true },
  { ...alone, targets: [untriedAgain] },
];
