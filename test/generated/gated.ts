// Generated Transactions with gates: the changes, the later state of each object, and the expected end.
import fc from 'fast-check';
import type { JsonObject } from '../../hooks/objects/json.ts';

export type Fate = 'comes up' | 'flaps' | 'breaks' | 'stays down' | 'relapses';

interface Planned {
  readonly type: 'Create' | 'Patch' | 'Update' | 'Delete';
  readonly at: 'AfterChange' | 'AtEnd' | 'Never' | 'none';
  readonly fate: Fate;
  /** For so many looks it stays as it is. */
  readonly looks: number;
  readonly isStable: boolean;
}

export interface Plan {
  readonly changes: readonly Planned[];
  /** What `spec.gate` says: changes without a gate come up in time, or stay down beyond it. */
  readonly general: 'none' | 'patient' | 'short';
}

const planned: fc.Arbitrary<Planned> = fc.record({
  type: fc.constantFrom('Create', 'Create', 'Patch', 'Update', 'Delete'),
  at: fc.constantFrom('AfterChange', 'AfterChange', 'AtEnd', 'Never', 'none'),
  // So that about half of them are Committed.
  fate: fc.constantFrom('comes up', 'comes up', 'comes up', 'flaps', 'flaps', 'breaks', 'stays down', 'relapses'),
  looks: fc.nat({ max: 2 }),
  isStable: fc.constantFrom(false, false, false, true),
});

export const plans: fc.Arbitrary<Plan> = fc.record({
  changes: fc.array(planned, { minLength: 1, maxLength: 4 }),
  general: fc.constantFrom('none', 'none', 'patient', 'short'),
});

interface Expected {
  /** Where the gate is, if there is one. */
  readonly at?: 'AfterChange' | 'AtEnd';
  readonly fate: Fate;
}

/** What becomes of the change and its gate: as docs/gates.md has it, by no code of the engine. */
export function expected(plan: Plan, change: Planned): Expected {
  const at = placeIn(plan, change);
  if (change.type === 'Delete') return { ...at, fate: 'comes up' };
  if (change.at === 'none') return { ...at, fate: plan.general === 'short' ? 'stays down' : 'comes up' };
  // It relapses once its gate has passed; at the end none is evaluated after that.
  return { ...at, fate: change.fate === 'relapses' && change.at === 'AtEnd' ? 'comes up' : change.fate };
}

function placeIn({ general }: Plan, { type, at }: Planned): Pick<Expected, 'at'> {
  if (at === 'AfterChange' || at === 'AtEnd') return { at };
  const isInherited = at === 'none' && type !== 'Delete' && general !== 'none';
  return isInherited ? { at: 'AtEnd' } : {};
}

/** What does not become ready, or is not ready any more when all are evaluated at the end. */
export function isToFail(plan: Plan): boolean {
  const gates = plan.changes.map((one) => expected(plan, one));
  const hasEnd = gates.some(({ at }) => at === 'AtEnd');
  return gates.some(
    ({ at, fate }) => at !== undefined && (fate === 'breaks' || fate === 'stays down' || (fate === 'relapses' && hasEnd)),
  );
}

/** As the change says it. */
export function gateFor({ at, fate, isStable, type }: Planned): JsonObject | undefined {
  if (at === 'none') return undefined;
  const failed = { condition: { type: 'Ready', status: 'False' } };
  const stays = isStable ? { stableFor: '1s' } : {};
  const ends = fate === 'breaks' || fate === 'relapses';
  return {
    at,
    ...(ends && type !== 'Delete' ? { failed } : {}),
    ...(fate === 'stays down' ? { timeout: '1s' } : stays),
  };
}
