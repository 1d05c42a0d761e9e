// Every bound that a tenant, a namespace, meets: of one Transaction, of what its calls read, and of its share of a replica. docs/reference.md
// shows this table (test/documents/limits.test.ts). How their values relate is in test/hooks/objects/limits.test.ts.
//
// A bound that only cuts others' words, or that only a fault of the program meets, is where it is used.

type Unit = 'changes' | 'Transactions' | 'bytes' | 'characters' | 'values' | 'ConfigMaps' | 'calls' | 'requests' | 'ms' | 'times';

interface Limit {
  readonly value: number;
  readonly unit: Unit;
  readonly of: string;
  readonly because: string;
  readonly beyond: string;
}

const mega = 1024 * 1024;
const [refused, split] = ['the engine refuses the Transaction', 'the engine refuses the Transaction: split it'];
const [waits, again] = ['the work waits', 'the read fails, and the call comes again'];

function limit([value, unit]: readonly [number, Unit], of: string, because: string, beyond: string): Limit {
  return { value, unit, of, because, beyond };
}

export const limits = {
  changes: limit([500, 'changes'], 'a Transaction, and the objects of a rollback', 'one status names all of them', split),
  stored: limit(
    [1_500_000, 'bytes'],
    'a Transaction with the room for its status',
    'etcd stores 1.5 MiB in one object, metadata included',
    split,
  ),
  name: limit([230, 'characters'], 'the name of a Transaction', 'names of other objects are made from it', refused),
  states: limit([32 * mega, 'bytes'], 'the states of all targets before and after, as JSON', 'its snapshot is read whole', split),
  statesInMemory: limit([48 * mega, 'bytes'], 'these states in memory', 'many short keys take ten times their text', split),
  snapshotParts: limit([64, 'ConfigMaps'], 'a snapshot', 'each is one request, and 64 hold 32 MiB that cannot be packed', split),
  source: limit([2 * mega, 'bytes'], 'one source of content, unpacked', 'a thread parses it as a whole', refused),
  sources: limit([10 * mega, 'bytes'], 'all sources of a Transaction', 'they are in memory together', split),
  sourcesValues: limit([500_000, 'values'], 'all sources of a Transaction', 'a value takes a hundred bytes of memory', split),
  undone: limit(
    [256, 'Transactions'],
    'those that one rollback undoes',
    'its status names each',
    'the engine names a nearer release',
  ),
  undoneSnapshots: limit(
    [120 * mega, 'bytes'],
    'the snapshots in memory that one rollback reads',
    'one call reads them',
    'the engine names the nearest release that can be reached',
  ),
  callMemory: limit(
    [120 * mega, 'bytes'],
    'the objects that a call holds, and all calls of a namespace',
    'a snapshot and two of the largest objects fit',
    again,
  ),
  littleMemory: limit(
    [2 * mega, 'bytes'],
    'what a call may hold whatever others hold',
    'small Transactions never wait',
    'see above',
  ),
  processMemory: limit([152 * mega, 'bytes'], 'the objects that all calls of a replica hold', 'the heap has 320 MB', again),
  calls: limit([24, 'calls'], 'a replica', 'each takes a worker of Metacontroller, which has 50', 'the call comes again later'),
  spareCalls: limit(
    [6, 'calls'],
    'what a namespace that is alone leaves to others',
    'the first calls of another one start at once',
    waits,
  ),
  largeCalls: limit(
    [8, 'calls'],
    'calls of a replica with a large Transaction',
    'the API server takes a second to write each',
    waits,
  ),
  largeCall: limit(
    [256 * 1024, 'bytes'],
    'a call that is not large',
    'its status is written in a few ms',
    'the call counts as large',
  ),
  callWait: limit(
    [250, 'ms'],
    'the wait of a call for others of its namespace',
    'it takes a worker meanwhile',
    'the call comes again later',
  ),
  callReturn: limit([8_000, 'ms'], 'the time until a refused call comes again', 'a free turn is found soon', 'it comes again'),
  requests: limit([32, 'requests'], 'a replica at a time', 'the API server has a share for each client', waits),
  spareRequests: limit(
    [4, 'requests'],
    'what a namespace that is alone leaves to others',
    'the first requests of another one start at once',
    waits,
  ),
  engineRequests: limit(
    [4, 'requests'],
    'what all namespaces leave to the engine itself',
    'locks and snapshots need them',
    waits,
  ),
  hang: limit(
    [3_000, 'ms'],
    'a turn that counts as one that ends',
    'most requests take some ms',
    'the namespace takes half from then on',
  ),
  pauses: limit([5, 'times'], 'the pause after a long step, in times of the step', 'others have most of the event loop', waits),
  pausesOfCall: limit(
    [8_000, 'ms'],
    'these pauses of one call',
    'Metacontroller waits 30 s for a reply',
    'the call pauses no more',
  ),
  threadTurn: limit(
    [500, 'ms'],
    'the wait of one task for a thread of expressions or YAML',
    'a worker waits meanwhile',
    'the next call tries again',
  ),
  threadTurns: limit([3_000, 'ms'], 'these waits of one call', 'a worker waits meanwhile', 'the next call tries again'),
} as const satisfies Readonly<Record<string, Limit>>;
