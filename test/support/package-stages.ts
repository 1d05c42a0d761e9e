// The stages of packages, from left to right; the engine imports nothing of them.
import { file, folder, type Unit, values } from './unit.ts';

/** Units for packages import what the hooks share, and the values of a Transaction; the saga imports nothing of them. */
export const packages = (name: string): string => `hooks/packages/${name}`;
const packageValues = ['objects', 'content', 'model', 'packages/model'];
const packageReads = [
  ...packageValues,
  'cluster',
  'packages/registry',
  'packages/resolve',
  'packages/compare',
  'packages/checks',
];
const observed = [...packageReads, 'packages/writes', 'packages/due', 'packages/observation'];

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
    holds: (path) => ['observe/tree.ts', 'observe/prefetch.ts'].map(packages).includes(path),
    sees: packageReads,
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
    name: 'packages/writes',
    what: 'stages, their contents and changes, and writes of the Lock',
    holds: folder(packages('writes')),
    sees: packageReads,
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
    name: 'packages/observation',
    what: 'all that a decision may know: what is due and what was read for it, one value',
    holds: file(packages('observe/observation.ts')),
    sees: [...packageReads, 'packages/writes', 'packages/due'],
    nature: 'pure',
  },
  {
    name: 'packages/observe',
    what: 'the reads that what is due needs: registries, the Lock, stages, objects, dry runs',
    holds: folder(packages('observe')),
    sees: [...observed, 'requests', 'packages/call', 'packages/tree'],
    nature: 'effects',
  },
  {
    name: 'packages/decide',
    what: 'the next step of each phase: what is written, or which status follows without a write',
    holds: folder(packages('decide')),
    sees: observed,
    nature: 'pure',
  },
  {
    name: 'packages/plan',
    what: 'the writes of a step',
    holds: folder(packages('plan')),
    sees: [...observed, 'packages/decide'],
    nature: 'pure',
  },
  {
    name: 'packages/outcome',
    what: 'the answer after the writes: status and conditions',
    holds: folder(packages('outcome')),
    sees: [...observed, 'packages/call', 'packages/decide'],
    nature: 'pure',
  },
  {
    name: 'packages/customize',
    what: 'what wakes a package transaction, and the status of a Package',
    holds: file(packages('customize.ts')),
    sees: ['objects', 'packages/model', 'packages/writes'],
    nature: 'pure',
  },
  {
    name: 'packages/status',
    what: 'the status of a Package, from its revisions',
    holds: file(packages('package-status.ts')),
    sees: ['objects', 'packages/model', 'packages/writes'],
    nature: 'pure',
  },
  {
    name: 'packages/own',
    what: 'the program of Packages that make their own package transactions',
    holds: file(packages('own.ts')),
    sees: [...observed, 'requests', 'packages/call', 'packages/observe', 'packages/decide', 'packages/status'],
    nature: 'effects',
  },
  {
    name: 'packages/definitions',
    what: 'the program that notices a CRD which somebody has deleted',
    holds: file(packages('definitions.ts')),
    sees: [...observed, 'requests', 'packages/call', 'packages/observe'],
    nature: 'effects',
  },
  {
    name: 'packages/reconcile',
    what: 'the program of package transactions: observe, decide, plan, perform, report',
    holds: file(packages('reconcile.ts')),
    sees: [...observed, 'requests', 'packages/call', 'packages/observe', 'packages/decide', 'packages/plan', 'packages/outcome'],
    nature: 'effects',
  },
];
