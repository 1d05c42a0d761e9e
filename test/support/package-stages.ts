// The stages of packages, from left to right; the engine imports nothing of them.
import { file, folder, type Unit, values } from './unit.ts';

/** Units for packages import what the hooks share, and the values of a Transaction; the saga imports nothing of them. */
export const packages = (name: string): string => `hooks/packages/${name}`;
const packageValues = ['objects', 'content', 'model', 'packages/model'];
const packageReads = [...packageValues, 'packages/registry', 'packages/resolve', 'packages/compare', 'packages/checks'];

/** From left to right, after those of the engine. */
export const packageUnits: readonly Unit[] = [
  {
    name: 'packages/model',
    what: 'values of packages: references, versions, constraints, contents, the lock',
    holds: folder(packages('model')),
    sees: ['objects'],
    nature: 'pure',
  },
  {
    name: 'packages/registry',
    what: 'the port to a registry',
    holds: file(packages('registry.ts')),
    sees: ['objects', 'packages/model'],
    nature: 'types',
  },
  {
    name: 'packages/resolve',
    what: 'which versions are chosen, or why none can be',
    holds: folder(packages('resolve')),
    sees: packageValues,
    nature: 'pure',
  },
  {
    name: 'packages/compare',
    what: 'whether a new schema accepts what the old one accepted',
    holds: folder(packages('compare')),
    sees: packageValues,
    nature: 'pure',
  },
  {
    name: 'packages/checks',
    what: 'what a package may hold, and who else owns it',
    holds: folder(packages('checks')),
    sees: [...packageValues, 'packages/compare'],
    nature: 'pure',
  },
  {
    name: 'packages/tree',
    what: 'reads the tree of a package from a registry',
    holds: (path) => ['observe/tree.ts', 'observe/ahead.ts', 'observe/former.ts'].map(packages).includes(path),
    sees: ['cluster', ...packageReads],
    nature: 'effects',
  },
  {
    name: 'packages/call',
    what: 'the seam to the web server: a call about a package transaction in, an answer out',
    holds: file(packages('call.ts')),
    sees: [...values, 'packages/model', 'packages/registry'],
    nature: 'types',
  },
  {
    name: 'packages/plan',
    what: 'stages, their contents and changes, and writes of the Lock',
    holds: folder(packages('plan')),
    sees: ['cluster', ...packageReads],
    nature: 'pure',
  },
  {
    name: 'packages/due',
    what: 'what is due for a package transaction as it is stored',
    holds: file(packages('due.ts')),
    sees: packageValues,
    nature: 'pure',
  },
  {
    name: 'packages/decide',
    what: 'the next act of each phase: writes, and the status that follows',
    holds: folder(packages('decide')),
    sees: ['cluster', ...packageReads, 'packages/due', 'packages/plan'],
    nature: 'pure',
  },
  {
    name: 'packages/observe',
    what: 'the reads that what is due needs: registries, the Lock, stages, objects, dry runs',
    holds: folder(packages('observe')),
    sees: ['cluster', ...packageReads, 'packages/tree', 'packages/plan', 'packages/decide'],
    nature: 'effects',
  },
  {
    name: 'packages/perform',
    what: 'sends the writes of an act',
    holds: folder(packages('perform')),
    sees: [...values, 'packages/decide'],
    nature: 'effects',
  },
  {
    name: 'packages/outcome',
    what: 'the answer: status and conditions',
    holds: folder(packages('outcome')),
    sees: [...packageValues, 'packages/call', 'packages/decide'],
    nature: 'pure',
  },
  {
    name: 'packages/customize',
    what: 'what wakes a package transaction',
    holds: file(packages('customize.ts')),
    sees: ['objects', 'packages/plan'],
    nature: 'pure',
  },
  {
    name: 'packages/sync',
    what: 'the program of package transactions: what is due, look, decide, perform, answer',
    holds: file(packages('sync.ts')),
    sees: [
      ...values,
      ...packageReads,
      'packages/call',
      'packages/due',
      'packages/plan',
      'packages/decide',
      'packages/observe',
      'packages/perform',
      'packages/outcome',
    ],
    nature: 'effects',
  },
];
