/** All calls share the connections to the API server, and others must get their requests in between. */
const mostAtOnce = 16;

/**
 * Runs `work` for each item, `atOnce` at a time, and returns the results in the order of the items. If the work for one item
 * throws, no further work begins.
 */
export async function inTurn<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
  atOnce = mostAtOnce,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  // A generator ends for all workers if one of them throws.
  const left = each(items);
  const worker = async (): Promise<void> => {
    for (const [index, item] of left) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
  return results;
}

function* each<Item>(items: readonly Item[]) {
  yield* items.entries();
}
