// Why a package, or a tree of them, is refused.
import { clean } from '../../objects/words.ts';

export const packageReasons = [
  'InvalidPackage',
  'MissingDependency',
  'VersionConflict',
  'CircularDependency',
  'CRDConflict',
  'SchemaIncompatible',
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
] as const;

export interface PackageFault {
  readonly reason: PackageReason;
  /** For people: names the package, what was expected, what was found. On one line, every character visible. */
  readonly message: string;
  /** It stays so, whatever is published: another try could not help. */
  readonly isFinal?: true;
}

/** Names and texts in the message may be those of a package: they are written so that they harm neither a terminal nor a log. */
export function packageFault(reason: PackageReason, message: string): PackageFault {
  return { reason, message: clean(message) };
}

export function finalFault(reason: PackageReason, message: string): PackageFault {
  return { ...packageFault(reason, message), isFinal: true };
}

/** All that was read, or the first fault in words. */
export function allOrFault<Read extends object>(read: readonly (Read | string)[]): readonly Read[] | string {
  return read.find((one) => typeof one === 'string') ?? read.filter((one) => typeof one !== 'string');
}
