// Why a package, or a tree of them, is refused.

type PackageReason =
  | 'InvalidPackage'
  | 'MissingDependency'
  | 'VersionConflict'
  | 'CircularDependency'
  | 'CRDConflict'
  | 'SchemaIncompatible';

export interface PackageFault {
  readonly reason: PackageReason;
  /** For people: names the package, what was expected, what was found. */
  readonly message: string;
  /** It stays so, whatever is published: another try could not help. */
  readonly isFinal?: true;
}

export function packageFault(reason: PackageReason, message: string): PackageFault {
  return { reason, message };
}

export function finalFault(reason: PackageReason, message: string): PackageFault {
  return { reason, message, isFinal: true };
}
