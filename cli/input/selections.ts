// Parses the objects of `janus undo --keep` and `--overwrite`: a comma-separated list of KIND[.GROUP]/[NAMESPACE/]NAME, where KIND may be any
// name of the kind that kubectl takes. And the kinds of
// `--unlisted`: a comma-separated list of PLURAL[.GROUP]. Pure.
import { wrongUse } from '../problem.ts';

const kind = /^[A-Za-z][A-Za-z0-9]*(\.[a-z0-9]([-a-z0-9.]*[a-z0-9])?)?$/;
const namespace = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
// The names that the API server accepts for any kind (ValidatePathSegmentName in apimachinery's pkg/api/validation/path), such as a Role
// with blanks in its name. A comma separates names, so a name with a comma cannot be given.
const name = /^(?!\.{1,2}$)[^/%,\p{Cc}]+$/u;

/** The names; none if no object is given. Throws a Problem. */
export function selectionIn(option: string, given: readonly string[]): readonly string[] {
  const names = namesIn(given);
  const wrong = names.find((one) => !isObjectName(one));
  if (wrong !== undefined)
    throw wrongUse(`--${option} takes KIND[.GROUP]/[NAMESPACE/]NAME, such as deploy/web; found "${wrong}". Nothing was written.`);
  const twice = names.find((one, index) => names.indexOf(one) < index);
  if (twice !== undefined) throw wrongUse(`--${option} names ${twice} twice: name it once. Nothing was written.`);
  return names;
}

const plural = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/;

/** The value of the annotation; undefined if no kind is given. Throws a Problem. */
export function kindsIn(option: string, given: readonly string[]): string | undefined {
  const names = namesIn(given);
  const wrong = names.find((one) => !plural.test(one));
  if (wrong !== undefined)
    throw wrongUse(`--${option} takes PLURAL[.GROUP], such as widgets.example.org; found "${wrong}". Nothing was written.`);
  return names.length === 0 ? undefined : names.join(',');
}

function namesIn(given: readonly string[]): readonly string[] {
  return given.flatMap((value) => value.split(',')).map((one) => one.trim());
}

function isObjectName(text: string): boolean {
  const [first = '', ...rest] = text.split('/');
  const [place, own] = rest.length === 2 ? rest : [undefined, rest[0]];
  return rest.length <= 2 && kind.test(first) && (place === undefined || namespace.test(place)) && name.test(own ?? '');
}
