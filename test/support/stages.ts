// The stages of the engine, from left to right, and what each may import.
import { packageUnits } from './package-stages.ts';
import { file, folder, type Unit, values } from './unit.ts';

const isContent = folder('hooks/objects/content');
const requests = folder('hooks/objects/requests');
const port = (path: string): boolean => /^hooks\/objects\/(cluster|mutation)\.ts$/.test(path);
const observation = (path: string): boolean => /^hooks\/transactions\/observe\/(observation|awaited|carry)\.ts$/.test(path);
const isHazardRead = (path: string): boolean => /^hooks\/transactions\/hazards\/read[^/]*\.ts$/.test(path);
const checked = [...values, 'content', 'writes', 'snapshots', 'gates', 'hazards', 'checks', 'due', 'locks'];
const observed = [...checked, 'in-flight', 'observation'];
const decided = [...observed, 'attribution', 'decide'];
const planned = [...decided, 'plan'];

/** From left to right; no unit imports one to its right. A file belongs to the first unit that contains it. */
export const units: readonly Unit[] = [
  {
    name: 'objects',
    what: 'Kubernetes objects as JSON: references, selectors, quantities, times, failures of requests; the hooks share it',
    holds: (path) => folder('hooks/objects')(path) && !isContent(path) && !requests(path) && !port(path),
    sees: [],
    nature: 'pure',
  },
  {
    name: 'cluster',
    what: 'the port: what a hook needs of the outside world; mutations, which are writes in order',
    holds: port,
    sees: ['objects'],
    nature: 'types',
  },
  {
    name: 'requests',
    what: 'sends mutations, reads lists page by page, gives long work its turns of the event loop; the hooks share it',
    holds: requests,
    sees: ['objects', 'cluster'],
    nature: 'effects',
  },
  {
    name: 'content',
    what: 'objects as fields: ownership (managedFields), list keys, three-way merge; the hooks share it',
    holds: isContent,
    sees: ['objects', 'cluster'],
    nature: 'pure',
  },
  {
    name: 'model',
    what: 'values of a Transaction: its spec, status, items, reasons, names; no rule of the saga',
    holds: folder('hooks/transactions/model'),
    sees: ['objects', 'cluster', 'content'],
    nature: 'pure',
  },
  {
    name: 'call',
    what: 'the seam to the web server: a call in, a reply and a report out',
    holds: file('hooks/transactions/call.ts'),
    sees: values,
    nature: 'types',
  },
  {
    name: 'writes',
    what: 'the write of a change, and what all writes have in common',
    holds: folder('hooks/transactions/writes'),
    sees: [...values, 'content'],
    nature: 'pure',
  },
  {
    name: 'snapshots',
    what: 'how prior and expected states are stored: entries, sealing and tags, ConfigMaps, drift',
    holds: folder('hooks/transactions/snapshots'),
    sees: [...values, 'content', 'writes'],
    nature: 'pure',
  },
  {
    name: 'gates',
    what: 'whether an object is ready: the rules of kinds, checks, and why it is not',
    holds: folder('hooks/transactions/gates'),
    sees: [...values, 'content'],
    nature: 'pure',
  },
  {
    name: 'hazards',
    what: 'what Kubernetes deletes or overwrites in answer to a change or its undo: one table, and why a change is refused or left',
    holds: (path) => folder('hooks/transactions/hazards')(path) && !isHazardRead(path),
    sees: [...values, 'content'],
    nature: 'pure',
  },
  {
    name: 'checks',
    what: 'what refuses a Transaction before anything is changed, in words',
    holds: folder('hooks/transactions/checks'),
    sees: [...values, 'content', 'snapshots', 'gates', 'hazards'],
    nature: 'pure',
  },
  {
    name: 'due',
    what: 'what is due for a Transaction as it is stored',
    holds: file('hooks/transactions/due.ts'),
    sees: ['objects', 'model'],
    nature: 'pure',
  },
  {
    name: 'locks',
    what: 'Leases: their format, and whose they are for how long',
    holds: folder('hooks/transactions/locks'),
    sees: [...values, 'writes', 'snapshots'],
    nature: 'pure',
  },
  {
    name: 'in-flight',
    what: 'whether a write is in flight (W1 to W6)',
    holds: folder('hooks/transactions/in-flight'),
    sees: [...values, 'locks'],
    nature: 'pure',
  },
  {
    name: 'observation',
    what: 'all that a decision may know: what is due and what was read for it, one value',
    holds: observation,
    sees: [...checked, 'in-flight'],
    nature: 'pure',
  },
  {
    name: 'reading',
    what: 'the one pipeline of reads: deadline, cache, budget, lists page by page; and what a 404 proves',
    holds: folder('hooks/transactions/reading'),
    sees: [...values, 'requests', 'writes'],
    nature: 'effects',
  },
  {
    name: 'hazards/read',
    what: 'the reads that the table of hazards names',
    holds: isHazardRead,
    sees: [...values, 'content', 'writes', 'requests', 'hazards', 'reading'],
    nature: 'effects',
  },
  {
    name: 'observe',
    what: 'the reads that what is due needs',
    holds: folder('hooks/transactions/observe'),
    sees: [...observed, 'requests', 'reading', 'hazards/read'],
    nature: 'effects',
  },
  {
    name: 'memory',
    what: 'what a process remembers between calls; losing it costs time, never correctness',
    holds: file('hooks/transactions/memory.ts'),
    sees: [...values, 'in-flight', 'observation', 'reading', 'observe'],
    nature: 'effects',
  },
  {
    name: 'attribution',
    what: 'which part of a live object the Transaction made; whether to apply, and how to undo',
    holds: folder('hooks/transactions/attribution'),
    sees: [...values, 'content', 'hazards', 'checks', 'writes', 'snapshots'],
    nature: 'pure',
  },
  {
    name: 'decide',
    what: 'the next step of each phase: what is written, or which status follows without a write',
    holds: folder('hooks/transactions/decide'),
    sees: [...observed, 'attribution'],
    nature: 'pure',
  },
  {
    name: 'plan',
    what: 'the writes of a step, its compensation included',
    holds: folder('hooks/transactions/plan'),
    sees: decided,
    nature: 'pure',
  },
  {
    name: 'sweep',
    what: 'garbage collection: Leases and snapshots of Transactions that are gone',
    holds: file('hooks/transactions/sweep.ts'),
    sees: [...values, 'due', 'writes', 'locks', 'snapshots'],
    nature: 'effects',
  },
  {
    name: 'perform',
    what: 'checks the invariants of each write, and sends it',
    holds: folder('hooks/transactions/perform'),
    sees: [...values, 'requests', 'writes'],
    nature: 'effects',
  },
  {
    name: 'outcome',
    what: 'the next state after the writes: another attempt, or a status with its conditions',
    holds: folder('hooks/transactions/outcome'),
    sees: planned,
    nature: 'pure',
  },
  {
    name: 'undo',
    what: 'what a requested undo or a rollback would do with each object, before its first write: reads and dry runs only',
    holds: folder('hooks/transactions/undo'),
    sees: [...planned, 'requests', 'reading', 'hazards/read', 'observe'],
    nature: 'effects',
  },
  {
    name: 'report',
    what: 'telemetry of a call: log line, metrics, Events, audit',
    holds: folder('hooks/transactions/report'),
    sees: [...planned, 'call', 'outcome'],
    nature: 'pure',
  },
  {
    name: 'reconcile',
    what: 'the program: observe, decide, plan, perform, report; the loop of a call, and its reply',
    holds: (path) => /^hooks\/transactions\/(reconcile|side-by-side|taking|attempt|reply)\.ts$/.test(path),
    sees: [...planned, 'call', 'requests', 'reading', 'observe', 'memory', 'perform', 'outcome', 'undo', 'report'],
    nature: 'effects',
  },
  {
    name: 'inspection',
    what: 'the seam to the command line: a plan, findings and states, masked',
    holds: file('hooks/transactions/inspection.ts'),
    sees: values,
    nature: 'types',
  },
  {
    name: 'inspect',
    what: 'a plan by the stages of the engine, reads only; what is left of a change; masks',
    holds: (path) => path === 'hooks/transactions/inspect.ts' || path.startsWith('hooks/transactions/inspect/'),
    sees: [...planned, 'reading', 'observe', 'undo', 'inspection'],
    nature: 'effects',
  },
  ...packageUnits,
];

export function unitOf(path: string): Unit | undefined {
  return units.find(({ holds }) => holds(path));
}
