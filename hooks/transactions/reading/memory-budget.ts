// A bound for the memory of objects. Whoever may write an object decides how much it takes: 1.5 MB in etcd can become 35 MB.
//
// R1. What a call has read, and not yet dropped, is counted: by call, by namespace, and for the process. A read beyond any of the three
//     fails, and its object is dropped. No read waits for room while its call holds any, so calls never wait for each other.
// R2. A call that has read little always has room, whatever others hold.
// R3. The bound of a call lies above a snapshot and two of the largest objects that etcd can store: no growth makes an undo impossible.

import type { Answer, Reader } from '../../objects/cluster.ts';
import { type Failure, tooLarge } from '../../objects/failure.ts';
import { limits } from '../../objects/limits.ts';
import { weightOf } from '../../objects/measure.ts';
import { inTurn } from '../../objects/requests/in-turn.ts';

/** Bytes of V8's heap. `little`: what a call may read whatever others hold. */
interface BudgetLimits {
  readonly little: number;
  readonly call: number;
  readonly process: number;
}

/** The heap has 320 MB (package.json). The rest is for kept snapshots, for the program, and for garbage that is collected later. */
const shippedLimits: BudgetLimits = {
  little: limits.littleMemory.value,
  call: limits.callMemory.value,
  process: limits.processMemory.value,
};

/** The part of a call. */
interface MemoryBudget {
  /** Counts so many bytes, or says why there is no room for them. */
  take(bytes: number): Failure | undefined;
  /** A room inside of this room, which can be given back alone. */
  inner(): MemoryBudget;
  /** Gives back all that was taken here. */
  drop(): void;
  /** Whether it has refused anything. */
  readonly isCrowded: boolean;
}

interface MemoryBudgets {
  /**
   * For a call about a Transaction of that namespace. `close` ends it: a read that outlives its call, because a step threw beside it, must not
   * hold memory for ever.
   */
  open(namespace: string): { readonly budget: MemoryBudget; close(): void };
}

/** Shared by all calls of a process. */
export function createMemoryBudgets(bounds: BudgetLimits = shippedLimits): MemoryBudgets {
  const tenants = new Map<string, number>();
  let all = 0;
  return {
    open(namespace) {
      let [call, isOpen] = [0, true];
      const tenant = (): number => tenants.get(namespace) ?? 0;
      const take = (bytes: number): Failure | undefined => {
        if (call + bytes > bounds.call) return tooLarge(`with it, ${what} would take more than ${bounds.call} bytes of memory`);
        const isLittle = call + bytes <= bounds.little;
        if (!isLittle && (tenant() + bytes > bounds.call || all + bytes > bounds.process)) return busy;
        add(bytes);
        return undefined;
      };
      const add = (bytes: number): void => {
        if (!isOpen) return;
        call += bytes;
        all += bytes;
        if (tenant() + bytes > 0) tenants.set(namespace, tenant() + bytes);
        else tenants.delete(namespace);
      };
      return {
        budget: budgetOf(take, add),
        close() {
          add(-call);
          isOpen = false;
        },
      };
    },
  };
}

function budgetOf(take: MemoryBudget['take'], add: (bytes: number) => void): MemoryBudget {
  let [own, isCrowded] = [0, false];
  return {
    take(bytes) {
      const refusal = take(bytes);
      if (refusal === undefined) own += bytes;
      else isCrowded = true;
      return refusal;
    },
    inner: () => budgetOf(take, add),
    drop() {
      add(-own);
      own = 0;
    },
    get isCrowded() {
      return isCrowded;
    },
  };
}

const what = 'the objects that are read for this Transaction';

const busy: Failure = {
  kind: 'transient',
  code: 0,
  reason: 'Busy',
  message: 'the objects of other Transactions take all memory that the engine has for objects',
  fields: [],
  definitive: true,
};

const budgets = new WeakMap<Reader, { readonly reader: Reader; readonly budget: MemoryBudget }>();

function taken(budget: MemoryBudget, answer: Answer): Answer {
  if (answer.kind === 'failed') return answer;
  const failure = budget.take(weightOf(answer.object).memory);
  return failure === undefined ? answer : { kind: 'failed', failure };
}

/** The reader, whose objects are counted in `budget`. */
export function readingInto(budget: MemoryBudget, reader: Reader): Reader {
  const counted = <Arguments extends readonly unknown[]>(read: (...args: Arguments) => Promise<Answer>) => {
    return async (...args: Arguments): Promise<Answer> => taken(budget, await read(...args));
  };
  const wrapped: Reader = {
    get: counted(reader.get.bind(reader)),
    dryRun: counted(reader.dryRun.bind(reader)),
    getMetadata: reader.getMetadata.bind(reader),
    listMetadata: reader.listMetadata.bind(reader),
    resource: reader.resource.bind(reader),
    resources: reader.resources.bind(reader),
    allowed: reader.allowed.bind(reader),
  };
  budgets.set(wrapped, { reader, budget });
  return wrapped;
}

/** Counts the bytes that the engine keeps of dropped reads, or reports why there is no room for them. */
export function keeping(reader: Reader, bytes: number): Failure | undefined {
  return budgets.get(reader)?.budget.take(bytes);
}

/** What `work` reads through the reader that it is given is dropped after it: its result must hold none of it. */
export async function dropping<Result>(reader: Reader, work: (reader: Reader) => Promise<Result>): Promise<Result> {
  return (await droppedAfter(reader, work)).result;
}

/** The results for all items, of which `atOnce` are worked on at once; what finds no room beside the others is tried again alone. */
export async function droppingEach<Item, Result>(
  { reader, atOnce }: { readonly reader: Reader; readonly atOnce: number },
  items: readonly Item[],
  work: (item: Item, reader: Reader) => Promise<Result>,
): Promise<readonly Result[]> {
  const first = await inTurn(items, (item) => droppedAfter(reader, (own) => work(item, own)), atOnce);
  return inTurn(
    [...first.entries()],
    ([index, { result, isCrowded }]) => {
      const item = items[index];
      return isCrowded && item !== undefined ? dropping(reader, (own) => work(item, own)) : Promise.resolve(result);
    },
    1,
  );
}

async function droppedAfter<Result>(reader: Reader, work: (reader: Reader) => Promise<Result>) {
  const known = budgets.get(reader);
  if (known === undefined) return { result: await work(reader), isCrowded: false };
  const budget = known.budget.inner();
  try {
    return { result: await work(readingInto(budget, known.reader)), isCrowded: budget.isCrowded };
  } finally {
    budget.drop();
  }
}
