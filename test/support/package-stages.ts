// The stages of packages, from left to right; the engine imports nothing of them.
import { file, folder, type Unit } from './unit.ts';

/** Units for packages import what the hooks share, and the engine through one file; the engine imports nothing of them. */
export const packages = (name: string): string => `hooks/crossplane/${name}`;
const packageValues = ['objects', 'content', 'crossplane/engine', 'crossplane/model'];
const packageReads = [
  ...packageValues,
  'cluster',
  'crossplane/registry',
  'crossplane/resolve',
  'crossplane/compare',
  'crossplane/checks',
];
const observed = [...packageReads, 'crossplane/writes', 'crossplane/due', 'crossplane/observation'];

/** From left to right, after those of the engine. */
export const packageUnits: readonly Unit[] = [
  {
    name: 'crossplane/engine',
    what: 'the one entrance to the engine: what package transactions know of a Transaction as it is stored',
    holds: file(packages('engine.ts')),
    sees: ['objects', 'content', 'model'],
    nature: 'pure',
  },
  {
    name: 'crossplane/model',
    what: 'values of packages: references, versions, constraints, contents, the lock',
    holds: folder(packages('model')),
    sees: ['objects'],
    nature: 'pure',
  },
  {
    name: 'crossplane/registry',
    what: 'the port to a registry',
    holds: file(packages('registry.ts')),
    sees: ['objects', 'crossplane/model'],
    nature: 'types',
  },
  {
    name: 'crossplane/resolve',
    what: 'which versions are chosen, or why none can be',
    holds: folder(packages('resolve')),
    sees: packageValues,
    nature: 'pure',
  },
  {
    name: 'crossplane/compare',
    what: 'whether a new schema accepts what the old one accepted',
    holds: folder(packages('compare')),
    sees: packageValues,
    nature: 'pure',
  },
  {
    name: 'crossplane/checks',
    what: 'what a package may hold, and who else owns it',
    holds: folder(packages('checks')),
    sees: [...packageValues, 'crossplane/compare'],
    nature: 'pure',
  },
  {
    name: 'crossplane/tree',
    what: 'reads the tree of a package from a registry',
    holds: (path) => ['observe/tree.ts', 'observe/prefetch.ts'].map(packages).includes(path),
    sees: packageReads,
    nature: 'effects',
  },
  {
    name: 'crossplane/call',
    what: 'the seam to the web server: a call about a package transaction in, an answer out',
    holds: file(packages('call.ts')),
    sees: [...packageValues, 'cluster', 'crossplane/registry'],
    nature: 'types',
  },
  {
    name: 'crossplane/writes',
    what: 'stages, their contents and changes, and writes of the Lock',
    holds: folder(packages('writes')),
    sees: packageReads,
    nature: 'pure',
  },
  {
    name: 'crossplane/due',
    what: 'what is due for a package transaction as it is stored',
    holds: file(packages('due.ts')),
    sees: packageValues,
    nature: 'pure',
  },
  {
    name: 'crossplane/observation',
    what: 'all that a decision may know: what is due and what was read for it, one value',
    holds: file(packages('observe/observation.ts')),
    sees: [...packageReads, 'crossplane/writes', 'crossplane/due'],
    nature: 'pure',
  },
  {
    name: 'crossplane/observe',
    what: 'the reads that what is due needs: registries, the Lock, stages, objects, dry runs',
    holds: folder(packages('observe')),
    sees: [...observed, 'requests', 'crossplane/call', 'crossplane/tree'],
    nature: 'effects',
  },
  {
    name: 'crossplane/decide',
    what: 'the next step of each phase: what is written, or which status follows without a write',
    holds: folder(packages('decide')),
    sees: observed,
    nature: 'pure',
  },
  {
    name: 'crossplane/plan',
    what: 'the writes of a step',
    holds: folder(packages('plan')),
    sees: [...observed, 'crossplane/decide'],
    nature: 'pure',
  },
  {
    name: 'crossplane/outcome',
    what: 'the answer after the writes: status and conditions',
    holds: folder(packages('outcome')),
    sees: [...observed, 'crossplane/call', 'crossplane/decide'],
    nature: 'pure',
  },
  {
    name: 'crossplane/customize',
    what: 'what wakes a package transaction, and the status of a Package',
    holds: file(packages('customize.ts')),
    sees: ['objects', 'crossplane/model', 'crossplane/writes'],
    nature: 'pure',
  },
  {
    name: 'crossplane/status',
    what: 'the status of a Package, from its revisions',
    holds: file(packages('package-status.ts')),
    sees: ['objects', 'crossplane/model', 'crossplane/writes'],
    nature: 'pure',
  },
  {
    name: 'crossplane/own',
    what: 'the program of Packages that make their own package transactions',
    holds: file(packages('own.ts')),
    sees: [...observed, 'requests', 'crossplane/call', 'crossplane/observe', 'crossplane/decide', 'crossplane/status'],
    nature: 'effects',
  },
  {
    name: 'crossplane/definitions',
    what: 'the program that notices a CRD which somebody has deleted',
    holds: file(packages('definitions.ts')),
    sees: [...observed, 'requests', 'crossplane/call', 'crossplane/observe'],
    nature: 'effects',
  },
  {
    name: 'crossplane/reconcile',
    what: 'the program of package transactions: observe, decide, plan, perform, report',
    holds: file(packages('reconcile.ts')),
    sees: [
      ...observed,
      'requests',
      'crossplane/call',
      'crossplane/observe',
      'crossplane/decide',
      'crossplane/plan',
      'crossplane/outcome',
    ],
    nature: 'effects',
  },
];
