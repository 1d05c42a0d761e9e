// Versions: this file reads and orders them as the Go library github.com/Masterminds/semver/v3 (3.5.0) does, which Crossplane uses.

/** The version in a tag such as `v1.2.3-rc.1+build`. The part after `+` does not count. */
export interface Version {
  readonly major: bigint;
  readonly minor: bigint;
  readonly patch: bigint;
  /** Empty for a release. */
  readonly prerelease: string;
  /** The text as written. */
  readonly text: string;
}

const longestVersion = 256;
const largest = 2n ** 64n - 1n;
const form =
  /^v?([0-9]+)(?:\.([0-9]+))?(?:\.([0-9]+))?(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$/;
const zeroLed = /^0[0-9]+$/;

/** Undefined if the library refuses the text. `1.2` means `1.2.0`, as in the library. */
export function readVersion(text: string): Version | undefined {
  const found = text.length > longestVersion ? null : form.exec(text);
  if (found === null) return undefined;
  const [, major = '0', minor = '0', patch = '0', prerelease = ''] = found;
  if (prerelease.split('.').some((part) => zeroLed.test(part))) return undefined;
  const version = { major: BigInt(major), minor: BigInt(minor), patch: BigInt(patch), prerelease, text };
  return version.major > largest || version.minor > largest || version.patch > largest ? undefined : version;
}

const complete = /^v?[0-9]+\.[0-9]+\.[0-9]+(?:[-+]|$)/;

/** Whether a version has all three numbers: `v1` and `latest` name no release that could be chosen. */
export function readCompleteVersion(text: string): Version | undefined {
  return complete.test(text) ? readVersion(text) : undefined;
}

/** OwnedPods 0 if the left version is lower. */
export function compareVersions(left: Version, right: Version): number {
  return (
    compareNumbers(left.major, right.major) ||
    compareNumbers(left.minor, right.minor) ||
    compareNumbers(left.patch, right.patch) ||
    compareEnds(left.prerelease, right.prerelease)
  );
}

function compareNumbers(left: bigint, right: bigint): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

// A release is higher than its prereleases.
function compareEnds(left: string, right: string): number {
  if (left === '' || right === '') return Number(left === '') - Number(right === '');
  return comparePrereleases(left, right);
}

/** Compares part by part; a missing part is the lowest. */
export function comparePrereleases(left: string, right: string): number {
  const [lefts, rights] = [left.split('.'), right.split('.')];
  for (let index = 0; index < Math.max(lefts.length, rights.length); index += 1) {
    const order = compareParts(lefts[index] ?? '', rights[index] ?? '');
    if (order !== 0) return order;
  }
  return 0;
}

// Numbers are lower than words. A number that uint64 cannot hold is a word.
function compareParts(left: string, right: string): number {
  const [leftNumber, rightNumber] = [numberOf(left), numberOf(right)];
  if (leftNumber !== undefined && rightNumber !== undefined) return compareNumbers(leftNumber, rightNumber);
  return rankOf(left) - rankOf(right) || compareTexts(left, right);
}

function rankOf(part: string): number {
  if (part === '') return 0;
  return numberOf(part) === undefined ? 2 : 1;
}

function compareTexts(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

function numberOf(part: string): bigint | undefined {
  const number = /^[0-9]+$/.test(part) ? BigInt(part) : undefined;
  return number === undefined || number > largest ? undefined : number;
}
