// Why the hook refuses a package, or a tree of packages.
import { clean } from '../../objects/words.ts';

export const packageReasons = [
  'InvalidPackage',
  'MissingDependency',
  'VersionConflict',
  'CircularDependency',
  'CRDConflict',
  'SchemaIncompatible',
  'RequiredByOthers',
  'ResourcesInUse',
  'NotEquivalent',
] as const;

type PackageReason = (typeof packageReasons)[number];

/** Why a try of a package transaction fails. */
export const tryReasons = [
  ...packageReasons,
  'DryRunFailed',
  'FetchDenied',
  'Unavailable',
  'CRDInstallationFailed',
  'InstallationFailed',
  'RollbackIncomplete',
  'DeletionFailed',
  'CleanupPending',
] as const;

export interface PackageFault {
  readonly reason: PackageReason;
  /**
   * For people: names the package, what was expected, and what was found. The text is on one line, and every character is visible.
   */
  readonly message: string;
  /** The fault is final, whatever is published: another try could not help. */
  readonly isFinal?: true;
}

/** The message may contain names and texts from a package. They are written so that they harm neither a terminal nor a log. */
export function packageFault(reason: PackageReason, message: string): PackageFault {
  return { reason, message: clean(message) };
}

export function finalFault(reason: PackageReason, message: string): PackageFault {
  return { ...packageFault(reason, message), isFinal: true };
}

/** All values that were read, or the first fault in words. */
export function allOrFault<Read extends object>(read: readonly (Read | string)[]): readonly Read[] | string {
  return read.find((one) => typeof one === 'string') ?? read.filter((one) => typeof one !== 'string');
}
