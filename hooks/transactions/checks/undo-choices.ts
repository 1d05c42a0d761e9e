// What a user chooses for a requested undo, by annotations that are read with the request. A choice that names no change, or a change
// twice, makes the request void: nothing is undone on a guess.
import { groupOf, type Reference } from '../../objects/reference.ts';
import { foreign } from '../../objects/words.ts';
import { annotationOf, annotations, type Transaction } from '../model/transaction.ts';

export interface UndoChoices {
  /** Indexes of changes that the undo leaves. */
  readonly keep: ReadonlySet<number>;
  /** Indexes of changes whose undo overwrites what others wrote. */
  readonly overwrite: ReadonlySet<number>;
  /** Whether the undo may begin although it cannot undo every change. */
  readonly isPartial: boolean;
  /** Kinds, as PLURAL[.GROUP], that the undo need not list. */
  readonly unlisted: ReadonlySet<string>;
  /** Of the plan that the user has seen. */
  readonly digest?: string;
  /** The faults of the choices, in words. */
  readonly faults: readonly string[];
}

interface Chosen {
  readonly indexes: readonly number[];
  readonly faults: readonly string[];
}

const longestName = 320;

/** `targets`: of all changes, with their namespaces, in the order of the changes. */
export function undoChoicesOf(transaction: Transaction, targets: readonly Reference[]): UndoChoices {
  const keep = chosen(transaction, annotations.undoKeep, targets);
  const overwrite = chosen(transaction, annotations.undoOverwrite, targets);
  const both = keep.indexes
    .filter((index) => overwrite.indexes.includes(index))
    .map((index) => `spec.changes[${index}] is named in both ${annotations.undoKeep} and ${annotations.undoOverwrite}`);
  const digest = annotationOf(transaction, annotations.undoDigest);
  const unlisted = unlistedBy(transaction);
  return {
    keep: new Set(keep.indexes),
    overwrite: new Set(overwrite.indexes),
    isPartial: annotationOf(transaction, annotations.undoPartial) === 'true',
    unlisted,
    ...(digest === undefined ? {} : { digest }),
    faults: [...keep.faults, ...overwrite.faults, ...both, ...kindFaults(unlisted)],
  };
}

/** The kinds that the undo of the Transaction need not list. The annotation remembers them while the undo runs. */
export function unlistedBy(transaction: Transaction): ReadonlySet<string> {
  return new Set(namesIn(transaction, annotations.undoUnlisted));
}

/** The names in an annotation, which commas separate. */
function namesIn(transaction: Transaction, annotation: string): readonly string[] {
  const names = (annotationOf(transaction, annotation) ?? '').split(',').map((name) => name.trim());
  return names.filter((name) => name !== '');
}

const mostUnlisted = 16;
const kindName = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/;

function kindFaults(unlisted: ReadonlySet<string>): readonly string[] {
  if (unlisted.size > mostUnlisted)
    return [`${annotations.undoUnlisted} names ${unlisted.size} kinds: name at most ${mostUnlisted}`];
  return [...unlisted]
    .filter((name) => !kindName.test(name))
    .map((name) => `${annotations.undoUnlisted} names ${foreign(name, longestName)}, which is no kind: write PLURAL[.GROUP]`);
}

function chosen(transaction: Transaction, annotation: string, targets: readonly Reference[]): Chosen {
  return selected({ place: annotation, names: namesIn(transaction, annotation) }, targets, transaction.namespace);
}

interface Names {
  /** The field or the annotation that has the names. */
  readonly place: string;
  readonly names: readonly string[];
}

/** What the names select from the targets. `own`: the namespace of the Transaction. */
export function selected({ place: annotation, names }: Names, targets: readonly Reference[], own: string): Chosen {
  const found = names.map((name) => ({ name, indexes: named(name, targets, own) }));
  const indexes = found.flatMap((one) => one.indexes);
  const faults = found.flatMap((one) => {
    const quoted = `${annotation} names ${foreign(one.name, longestName)}`;
    if (one.indexes.length === 0)
      return [`${quoted}, which is no object of this Transaction: write KIND[.GROUP]/[NAMESPACE/]NAME`];
    return one.indexes.length > 1 ? [`${quoted}, which is more than one object: add the group or the namespace`] : [];
  });
  const twice = [...new Set(indexes.filter((index, at) => indexes.indexOf(index) !== at))];
  return { indexes, faults: [...faults, ...twice.map((index) => `${annotation} names spec.changes[${index}] twice`)] };
}

/** Whether one of the names selects the target. */
export function isSelected(names: readonly string[], target: Reference, own: string): boolean {
  return names.some((name) => named(name, [target], own).length > 0);
}

/** The changes that `KIND[.GROUP]/[NAMESPACE/]NAME` names; without a namespace: an object of the Transaction's own, or of none. */
function named(text: string, targets: readonly Reference[], own: string): readonly number[] {
  const [kindAndGroup = '', ...rest] = text.split('/');
  const [name, namespace] = rest.length === 2 ? [rest[1], rest[0]] : [rest.length === 1 ? rest[0] : undefined, undefined];
  const dot = kindAndGroup.indexOf('.');
  const [kind, group] = dot < 0 ? [kindAndGroup, undefined] : [kindAndGroup.slice(0, dot), kindAndGroup.slice(dot + 1)];
  return targets.flatMap((target, index) => {
    const isKind =
      target.kind.toLowerCase() === kind.toLowerCase() && (group === undefined || groupOf(target.apiVersion) === group);
    const isPlace = namespace === undefined ? [undefined, own].includes(target.namespace) : target.namespace === namespace;
    return isKind && isPlace && target.name === name ? [index] : [];
  });
}
