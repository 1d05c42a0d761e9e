// How the limits relate: each sentence is a reason for the value of one of them.
import { readFileSync } from 'node:fs';
import t from 'tap';
import { limits } from '../../../hooks/objects/limits.ts';
import { mostChanges } from '../../../schemas/transaction-spec.ts';

const amountOf = (name: keyof typeof limits): number => limits[name].value;
const flags = readFileSync(new URL('../../../manifests/tuned-metacontroller/kustomization.yaml', import.meta.url), 'utf8');
const workers = Number(/--workers=(\d+)/.exec(flags)?.[1]);
const replicas = 2;
/** Bytes in memory of the largest object that etcd stores. */
const largestObject = 35_000_000;

t.test('the limits fit each other', async (t) => {
  t.ok(workers > 0, 'Metacontroller has workers');
  t.ok(amountOf('calls') * replicas < workers, 'the calls of all replicas leave workers of Metacontroller free');
  t.ok(amountOf('spareCalls') <= amountOf('calls') / 2, 'a namespace that is alone has at least half of the calls');
  t.ok(amountOf('largeCalls') < amountOf('calls') / 2, 'large calls leave most calls to small ones');
  t.ok(amountOf('spareRequests') + amountOf('engineRequests') <= amountOf('requests') / 2, 'and at least half of the requests');
  t.ok(amountOf('statesInMemory') + 2 * largestObject < amountOf('callMemory'), 'each undo fits into the memory of a call');
  t.ok(amountOf('callMemory') + amountOf('littleMemory') <= amountOf('processMemory'), 'a large call leaves room for small ones');
  t.ok(amountOf('sources') < amountOf('states'), 'the sources of a Transaction fit into its snapshot');
  t.ok(amountOf('source') <= amountOf('sources'), 'one source fits into all sources');
  t.ok(amountOf('callWait') < amountOf('threadTurns'), 'a call waits longer for its turn in a thread than for its own');
  t.equal(amountOf('undoneSnapshots'), amountOf('callMemory'), 'a rollback reads its snapshots in one call');
  t.equal(amountOf('changes'), mostChanges, 'the CRD accepts as many changes as the engine');
});
