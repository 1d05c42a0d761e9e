// The run of a generated plan, without other writers, and the differences between plan and run.
import fc from 'fast-check';
import type { JsonObject } from '../../hooks/objects/json.ts';
import { type Plan, plan, type Target } from './arbitraries.ts';

/**
 * What is there of a target. `turned`: what should be there is not, or the other way round. `taken`: it is created, and is there.
 * `terminating`: it is being deleted. `unfit`: the API server refuses its content.
 */
type State = 'as drawn' | 'turned' | 'taken' | 'terminating' | 'unfit';

/** What the Transaction makes on the way, and what lies in it. */
type Way = 'Namespace' | 'CRD';

/** The ServiceAccounts, and the rules that each lacks. */
export const accounts = {
  all: [],
  'no-undo': ['delete'],
  'no-patch': ['patch'],
  'no-create': ['create'],
  'no-get': ['get'],
} as const;

type Account = keyof typeof accounts | 'missing';

export interface Drawn {
  readonly targets: readonly Target[];
  readonly fieldManager: string;
  readonly states: readonly State[];
  readonly account: Account;
  readonly ways: readonly Way[];
  /** The Transaction itself is refused: its timeout is no duration. */
  readonly isMalformed: boolean;
}

const state = fc.constantFrom<State>('as drawn', 'as drawn', 'as drawn', 'turned', 'taken', 'terminating', 'unfit');
const account = fc.constantFrom<Account>(
  'all',
  'all',
  'all',
  'all',
  'all',
  'no-undo',
  'no-patch',
  'no-create',
  'no-get',
  'missing',
);

/** A Namespace and a CRD cost the API server as much as many plans. */
const ways = fc.constantFrom<readonly Way[]>(...Array.from({ length: 10 }, () => []), ['Namespace'], ['CRD']);

type Faults = Pick<Drawn, 'states' | 'account' | 'isMalformed'>;

/** Half of all plans have something against them. */
function faultsOf(targets: number): fc.Arbitrary<Faults> {
  const states = (one: fc.Arbitrary<State>): fc.Arbitrary<readonly State[]> =>
    fc.array(one, { minLength: targets, maxLength: targets });
  return fc.oneof(
    fc.record({
      states: states(fc.constant('as drawn')),
      account: fc.constant<Account>('all'),
      isMalformed: fc.constant(false),
    }),
    fc.record({ states: states(state), account, isMalformed: fc.integer({ min: 0, max: 9 }).map((number) => number === 0) }),
  );
}

export const drawn: fc.Arbitrary<Drawn> = plan.chain(({ targets, fieldManager }: Plan) =>
  fc.record({ faults: faultsOf(targets.length), ways }).map(({ faults, ways }) => ({ targets, fieldManager, ways, ...faults })),
);

/** What is changed in that state. */
export function given(target: Target, state: State | undefined): Target {
  return state === 'taken' ? { ...target, type: 'Create', recreates: false } : target;
}

/** The target as it is there. */
export function there(target: Target, state: State | undefined): Target {
  if (state === 'terminating' || state === 'taken') return { ...target, isThere: true };
  return state === 'turned' ? { ...target, isThere: !target.isThere } : target;
}

/** A change whose content no object may have. */
export function unfit(change: JsonObject): JsonObject {
  if (change.type === 'Delete' || change.contentFrom !== undefined) return change;
  const content = change.content as JsonObject;
  const metadata = { ...(content.metadata as JsonObject), labels: { team: 'no label!' } };
  return { ...change, content: { ...content, metadata } };
}

/** The changes that make something, and put an object into it. */
export function madeOnTheWay(way: Way, id: string): readonly [JsonObject, JsonObject] {
  if (way === 'Namespace') {
    const target = { apiVersion: 'v1', kind: 'ConfigMap', name: 'inside', namespace: id };
    return [
      { type: 'Create', target: { apiVersion: 'v1', kind: 'Namespace', name: id }, content: {} },
      { type: 'Create', target, content: { data: { a: '1' } } },
    ];
  }
  const [plural, group] = [id.replaceAll('-', ''), 'planned.test.janus.io'];
  const schema = {
    openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties: { a: { type: 'string' } } } } },
  };
  const spec = {
    ...{ group, scope: 'Namespaced', names: { kind: `K${plural}`, plural } },
    versions: [{ name: 'v1', served: true, storage: true, schema }],
  };
  const crd = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', name: `${plural}.${group}` };
  return [
    { type: 'Create', target: crd, content: { spec } },
    { type: 'Apply', target: { apiVersion: `${group}/v1`, kind: `K${plural}`, name: 'one' }, content: { spec: { a: '1' } } },
  ];
}
