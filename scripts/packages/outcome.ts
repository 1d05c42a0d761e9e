// Prints the output of the command, for users and for programs.

import type { PackageFault } from '../../hooks/crossplane/model/fault.ts';
import type { Tree, TreePackage } from '../../hooks/crossplane/observe/tree.ts';
import { clean } from '../../hooks/objects/words.ts';

/** `notes`: which instances lose values, because the user has allowed it. */
export type Outcome =
  | Exclude<Tree, { kind: 'resolved' }>
  | (Extract<Tree, { kind: 'resolved' }> & { readonly notes: readonly string[] });

export function writeJson(outcome: Outcome): string {
  return `${JSON.stringify(outcome.kind === 'resolved' ? { ...outcome, packages: outcome.packages.map(plain) } : outcome, null, 2)}\n`;
}

function plain({ contents, meta, ...rest }: TreePackage): object {
  return { ...rest, kind: meta?.kind, objects: contents?.objects };
}

export function writeText(outcome: Outcome): string {
  if (outcome.kind === 'failed') return `Failed: ${outcome.failure.message}\n`;
  if (outcome.kind === 'refused') return outcome.faults.map(refusal).join('');
  const changed = outcome.packages.filter(({ change }) => change !== 'kept').length;
  const notes = outcome.notes.map((one) => `Note: ${clean(one)}\n`).join('');
  return `${outcome.packages.map(described).join('')}${notes}${changed} of ${outcome.packages.length} packages change, dependencies first; the Lock then holds ${outcome.lock.length}.\n`;
}

function refusal({ reason, message }: PackageFault): string {
  return `Refused: ${reason}: ${message}\n`;
}

function described(one: TreePackage): string {
  const version = [one.tag, one.digest].filter((part) => part !== undefined).join('@');
  const from = one.from === undefined || one.change === 'kept' ? '' : `, was ${one.from}`;
  const asked = one.demands.map(({ package: name, constraints }) => `${name} requires ${constraints}`);
  const objects = (one.contents?.objects ?? []).map(({ kind, name }) => `  ${clean(`${kind} ${name}`)}\n`);
  const lines = [
    `${one.source} ${version} (${one.change}${from})\n`,
    asked.length > 0 ? `  because ${clean(asked.join(', '))}\n` : '',
    ...objects,
  ];
  return lines.join('');
}
