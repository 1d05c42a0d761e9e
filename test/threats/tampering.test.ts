// A user has tampered with a snapshot or a status: the engine reports it and writes nothing because of it. The engine is given what was
// tampered with by its port, once before the first change and once before an undo; all else is the real API server.
import { brotliCompressSync, constants } from 'node:zlib';
import t, { type Test } from 'tap';
import type { Answer, Cluster, Write } from '../../hooks/objects/cluster.ts';
import { at, type Json, type JsonObject, textAt, withPath } from '../../hooks/objects/json.ts';
import { digestOf } from '../../hooks/transactions/snapshots/chunks.ts';
import { must } from '../support/client.ts';
import { type Engines, openEngines } from '../support/engine.ts';
import { snapshotOf } from '../support/snapshots.ts';
import { type Stage, startStage } from '../support/stage.ts';
import { stepToEnd, stepUntil } from '../support/stepping.ts';
import { change, createConfigMaps } from '../support/targets.ts';

interface Stored {
  readonly snapshot: JsonObject;
  readonly transaction: JsonObject;
}

interface Tampering {
  readonly name: string;
  readonly edit: (stored: Stored, other: Stored) => Stored;
  readonly says: RegExp;
}

type Data = Readonly<Record<string, string>>;

const dataOf = ({ snapshot }: Stored): Data => at(snapshot, 'data') as Data;
const keyOf = (stored: Stored, index: number): string =>
  Object.keys(dataOf(stored)).find((key) => key.startsWith(`${index}-`)) ?? '';
const nameOf = ({ snapshot }: Stored): string => textAt(snapshot, 'metadata', 'name') ?? '';
const withData = (stored: Stored, data: JsonObject): Stored => ({ ...stored, snapshot: { ...stored.snapshot, data } });
const withStatus = (stored: Stored, path: readonly string[], value: Json | undefined): Stored => ({
  ...stored,
  transaction: withPath(stored.transaction, ['status', ...path], value),
});

/** The digest in the status made to fit, as somebody could who may write both. */
function fitting(stored: Stored): Stored {
  return withStatus(stored, ['rollbackRef', 'digest'], digestOf([at(stored.snapshot, 'data') ?? {}]));
}

const withEntry = (stored: Stored, index: number, text: string): Stored =>
  withData(stored, { ...dataOf(stored), [keyOf(stored, index)]: text });

function flipped(text: string, position: number): string {
  const other = text[position] === 'A' ? 'B' : 'A';
  return text.slice(0, position) + other + text.slice(position + 1);
}

const drift = (value: Json): ((stored: Stored) => Stored) => {
  return (stored) => {
    const items = at(stored.transaction, 'status', 'items') as readonly JsonObject[];
    return withStatus(
      stored,
      ['items'],
      items.map((item) => ({ ...item, drift: value })),
    );
  };
};

/** The Secret's entry is sealed, the first ConfigMap's plain, the second one's compressed. */
const entries = ['plain', 'compressed', 'sealed'] as const;

const notTheOne = /is not the one that was stored: its digest differs|has no readable entry for spec\.changes/;
const unreadable = /has no readable entry for spec\.changes\[2\]/;
const plainText = (stored: Stored, index: number): string =>
  (dataOf(stored)[keyOf(stored, index)] ?? '').replace(/^\w+:[^:]*:/, '');
const quick = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };
const bomb = `compressed:${brotliCompressSync(Buffer.alloc(60 * 1024 * 1024), quick).toString('base64')}`;

/** Places all over an entry: the words in front, the key's id, the nonce, the middle, the tag. */
const places: readonly (readonly [name: string, place: (text: string) => number])[] = [
  ['first character', () => 0],
  ['eighth', () => 7],
  ['tenth', () => 9],
  ['twentieth', () => 19],
  ['a quarter', (text) => text.length >> 2],
  ['half', (text) => text.length >> 1],
  ['last but ten', (text) => text.length - 11],
  ['last but one', (text) => text.length - 2],
];

const flips: readonly Tampering[] = entries.flatMap((kind, index) =>
  places.map(([name, place]) => ({
    name: `${kind} entry, ${name}`,
    edit: (stored: Stored) => {
      const text = dataOf(stored)[keyOf(stored, index)] ?? '';
      return withEntry(stored, index, flipped(text, place(text)));
    },
    says: notTheOne,
  })),
);

const fittingFlips: readonly Tampering[] = entries.flatMap((kind, index) =>
  places.map(([name, place]) => ({
    name: `${kind} entry and the digest, ${name}`,
    edit: (stored: Stored) => {
      const text = dataOf(stored)[keyOf(stored, index)] ?? '';
      return fitting(withEntry(stored, index, flipped(text, place(text))));
    },
    says: new RegExp(`has no readable entry for spec\\.changes\\[${index}\\]`),
  })),
);

const others: readonly Tampering[] = [
  { name: 'no data', edit: (stored) => withData(stored, {}), says: notTheOne },
  { name: 'one entry less', edit: (stored) => withPathIn(stored, keyOf(stored, 1), undefined), says: notTheOne },
  { name: 'one entry more', edit: (stored) => withData(stored, { ...dataOf(stored), '7-0.x': 'x' }), says: notTheOne },
  {
    name: 'two entries swapped, and the digest',
    edit: (stored) => {
      const [first, third] = [dataOf(stored)[keyOf(stored, 0)] ?? '', dataOf(stored)[keyOf(stored, 2)] ?? ''];
      return fitting(withEntry(withEntry(stored, 0, third), 2, first));
    },
    says: /has no readable entry for spec\.changes\[0\]/,
  },
  {
    name: 'the sealed entry of another Transaction about this object, and the digest',
    edit: (stored, other) => fitting(withEntry(stored, 2, dataOf(other)[keyOf(other, 2)] ?? '')),
    says: unreadable,
  },
  {
    name: 'a plain entry in place of the sealed one, and the digest',
    edit: (stored) =>
      fitting(withEntry(stored, 2, (dataOf(stored)[keyOf(stored, 0)] ?? '').replaceAll('"index":0', '"index":2'))),
    says: unreadable,
  },
  {
    name: 'entries without their tags, as an engine stored them that had none, and the digest',
    edit: (stored) => fitting(withEntry(stored, 0, plainText(stored, 0))),
    says: /has no readable entry for spec\.changes\[0\]/,
  },
  {
    name: 'its entry, compressed',
    edit: (stored) => fitting(withEntry(stored, 1, `compressed:${plainText(stored, 1)}`)),
    says: /has no readable entry for spec\.changes\[1\]/,
  },
  {
    name: 'the entry of another Transaction about this object, in the clear, and the digest',
    edit: (stored, other) => fitting(withEntry(stored, 0, dataOf(other)[keyOf(other, 0)] ?? '')),
    says: /has no readable entry for spec\.changes\[0\]/,
  },
  {
    name: 'entries that expand without end, and the digest',
    edit: (stored) => fitting(withEntry(withEntry(stored, 0, bomb), 1, bomb)),
    says: /has no readable entry for spec\.changes\[0\]/,
  },
  {
    name: 'the whole snapshot of another Transaction',
    edit: (stored, other) => ({ ...stored, snapshot: withPath(other.snapshot, ['metadata', 'name'], nameOf(stored)) }),
    says: notTheOne,
  },
  {
    name: 'the whole snapshot of another Transaction, and the digest',
    edit: (stored, other) => fitting({ ...stored, snapshot: withPath(other.snapshot, ['metadata', 'name'], nameOf(stored)) }),
    says: /has no readable entry for spec\.changes\[0\]/,
  },
  { name: 'drift in the status', edit: drift('[{"path":["f:data","f:color"],"value":"black"}]'), says: /drift cannot be read/ },
  { name: 'drift in the status, with somebody’s tag', edit: drift('1.k.x:[]'), says: /drift cannot be read/ },
  {
    name: 'the digest in the status',
    edit: (stored) => withStatus(stored, ['rollbackRef', 'digest'], '0'.repeat(64)),
    says: /its digest differs/,
  },
  {
    name: 'the name in the status',
    edit: (stored) => withStatus(stored, ['rollbackRef', 'name'], 'another'),
    says: /another is gone/,
  },
  {
    name: 'the name in the status, of another Transaction’s',
    edit: (stored, other) => withStatus(stored, ['rollbackRef', 'name'], nameOf(other)),
    says: notTheOne,
  },
  { name: 'the count in the status', edit: (stored) => withStatus(stored, ['rollbackRef', 'objects'], 3), says: /is gone/ },
  ...[0, -1, 65, 1_000, 2.5].map((count) => ({
    name: `the count in the status, ${count}`,
    edit: (stored: Stored) => withStatus(stored, ['rollbackRef', 'objects'], count),
    says: /no snapshot has/,
  })),
  {
    name: 'the lock of another object',
    edit: (stored) => {
      const items = at(stored.transaction, 'status', 'items') as readonly JsonObject[];
      const turned = items.map((item, index) => ({ ...item, lockLease: items.at(index - 1)?.lockLease ?? '' }));
      return withStatus(stored, ['items'], turned);
    },
    says: /lock of spec\.changes\[0\] was taken|is locked by another|Lease|all locks|waiting/,
  },
  {
    name: 'no reference in the status',
    edit: (stored) => withStatus(stored, ['rollbackRef'], undefined),
    says: /names no snapshot/,
  },
];

function withPathIn(stored: Stored, key: string, value: string | undefined): Stored {
  return { ...stored, snapshot: withPath(stored.snapshot, ['data', key], value) };
}

/** The port, as if the cluster held that; nothing is sent. */
function showing(stored: Stored, sent: Write[]): (cluster: Cluster) => Cluster {
  const shown = [stored.snapshot, stored.transaction];
  const matching = (kind: string, name: string): JsonObject | undefined =>
    shown.find((object) => textAt(object, 'kind') === kind && textAt(object, 'metadata', 'name') === name);
  const instead = (kind: string, name: string, ask: () => Promise<Answer>): Promise<Answer> => {
    const object = matching(kind, name);
    return object === undefined ? ask() : Promise.resolve({ kind: 'ok', object, serverTime: Date.now() });
  };
  const failure = {
    kind: 'transient',
    code: 503,
    reason: 'ServiceUnavailable',
    message: 'not sent',
    fields: [],
    definitive: true,
  } as const;
  return (cluster) => ({
    ...cluster,
    get: (location, identity) => instead(location.resource.kind, location.name, () => cluster.get(location, identity)),
    getMetadata: (location, identity) =>
      instead(location.resource.kind, location.name, () => cluster.getMetadata(location, identity)),
    send: async (write) => {
      sent.push(write);
      return { kind: 'failed', failure };
    },
  });
}

async function storedOf(stage: Stage, name: string): Promise<Stored> {
  return { snapshot: await snapshotOf(stage, name), transaction: await stage.read(name) };
}

async function startWorld(t: Test): Promise<{ readonly stage: Stage; readonly engines: Engines }> {
  const stage = await startStage(t, { withoutLoop: true });
  await createConfigMaps(stage, ['plain']);
  await createConfigMaps(stage, ['large'], { text: 'blue '.repeat(1_000) });
  must(await stage.client.create(stage.path('secrets'), { metadata: { name: 'key' }, stringData: { color: 'blue' } }));
  return { stage, engines: await openEngines(t, stage) };
}

async function makeTransaction(stage: Stage, name: string): Promise<void> {
  const green = { data: { color: 'green' } };
  const changes = [
    change('Patch', 'plain', green),
    change('Patch', 'large', green),
    change('Patch', 'key', { stringData: { color: 'green' } }, { kind: 'Secret' }),
  ];
  await stage.transaction(name, changes);
}

t.test('the engine refuses a tampered snapshot before its first write', async (t) => {
  const { stage, engines } = await startWorld(t);
  const tamperings = [...flips, ...fittingFlips, ...others];
  const tryAll = async (t: Test, [stored, other]: readonly [Stored, Stored]): Promise<void> => {
    t.same(
      entries.map((_, index) => /^(sealed|compressed|plain):/.exec(dataOf(stored)[keyOf(stored, index)] ?? '')?.[1]),
      entries,
    );
    for (const { name, edit, says } of tamperings) {
      const sent: Write[] = [];
      const engine = engines.start({ wrap: showing(edit(stored, other), sent) });
      const { code, body } = await engine.call(textAt(stored.transaction, 'metadata', 'name') ?? '');
      t.equal(code, 200);
      t.match(textAt(body, 'status', 'message'), says, name);
      t.same(
        sent.filter(({ location }) => location.resource.kind !== 'Lease'),
        [],
        `${name}: nothing is written`,
      );
    }
  };

  await makeTransaction(stage, 'two');
  await stepToEnd(stage, 'two');
  await stage.annotate('two', { 'tx.janus.io/request-rollback': 'yes' });
  await stepUntil(stage, 'two', 'RolledBack');
  await stepToEnd(stage, 'two');
  await makeTransaction(stage, 'one');
  await stepUntil(stage, 'one', 'Prepared');
  const other = await storedOf(stage, 'two');
  await t.test('the engine refuses it before the first change', async (t) => tryAll(t, [await storedOf(stage, 'one'), other]));
  await stepToEnd(stage, 'one');
  await stage.annotate('one', { 'tx.janus.io/request-rollback': 'yes' });
  await t.test('the engine refuses it before an undo', async (t) => tryAll(t, [await storedOf(stage, 'one'), other]));
  t.match((await stepUntil(stage, 'one', 'RolledBack')).status, { phase: 'RolledBack' }, 'the undo restores the intact entries');
});
