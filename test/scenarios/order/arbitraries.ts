// Two or three Transactions over one to three objects, all values from small sets so that they meet, and the order of the undos.
import fc from 'fast-check';
import { isObject, type JsonObject } from '../../../hooks/objects/json.ts';
import { bodies, type ChangeType, fixedBodies, type Kind, releases, writeTo } from '../../generated/arbitraries.ts';
import type { Orders, PlannedChange, Subject } from './story.ts';

interface Wish {
  /** Of the types that are possible then. */
  readonly pick: number;
  readonly content: JsonObject;
  readonly isLeftAlone: boolean;
}

/** Of a Widget one field cannot be changed in place; the others can, so all other changes stay possible. */
function contentOf(kind: Kind): fc.Arbitrary<JsonObject> {
  return kind === 'Widget' ? fc.oneof(bodies.Widget, fixedBodies.Widget) : bodies[kind];
}

function wish(kind: Kind): fc.Arbitrary<Wish> {
  const isLeftAlone = fc.integer({ min: 0, max: 3 }).map((number) => number === 0);
  return fc.record({ pick: fc.nat({ max: 8 }), content: contentOf(kind), isLeftAlone });
}

const kind = fc.constantFrom<Kind>('ConfigMap', 'Secret', 'Widget');

function subject(transactions: number): fc.Arbitrary<Subject> {
  return kind.chain((kind) =>
    fc
      .record({
        origin: fc.option(contentOf(kind), { nil: undefined, freq: 3 }),
        history: fc.array(writeTo(undefined, kind), { maxLength: 2 }),
        wishes: fc.array(wish(kind), { minLength: transactions, maxLength: transactions }),
      })
      .map(({ origin, history, wishes }) => ({ kind, origin, history, changes: possible(origin !== undefined, wishes) })),
  );
}

const onExisting: readonly ChangeType[] = ['Update', 'Update', 'Patch', 'Patch', 'Patch', 'Delete', 'Apply', 'Apply', 'Apply'];

/** Content with the field that cannot be changed in place. */
function isFixed({ spec }: JsonObject): boolean {
  return isObject(spec) && spec.fixed !== undefined;
}

function possible(isThere: boolean, wishes: readonly Wish[]): readonly (PlannedChange | undefined)[] {
  let exists = isThere;
  return wishes.map(({ pick, content, isLeftAlone }) => {
    if (isLeftAlone) return undefined;
    const type = typeOf(exists, onExisting[pick] ?? 'Patch', content);
    exists = type !== 'Delete';
    return { type, content, recreates: isFixed(content) && recreating.includes(type) };
  });
}

const recreating: readonly ChangeType[] = ['Update', 'Apply'];

function typeOf(exists: boolean, drawn: ChangeType, content: JsonObject): ChangeType {
  if (!exists) return drawn === 'Apply' ? 'Apply' : 'Create';
  return drawn === 'Patch' && isFixed(content) ? 'Apply' : drawn;
}

export const orders: fc.Arbitrary<Orders> = fc.integer({ min: 2, max: 3 }).chain((transactions) =>
  fc.record({
    fieldManagers: fc.array(fc.constantFrom(releases, releases, undefined), { minLength: transactions, maxLength: transactions }),
    subjects: fc.array(subject(transactions), { minLength: 1, maxLength: 3 }),
    undos: fc.shuffledSubarray(
      Array.from({ length: transactions }, (_, number) => number),
      { minLength: transactions, maxLength: transactions },
    ),
  }),
);
