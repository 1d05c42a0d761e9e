// Objects as kubectl prints them with -o. managedFields are left out, as kubectl leaves them out.
import { DUMP_SCHEMA, defineScalarTag, dump, intYaml11Tag } from 'js-yaml';
import { isRawNumber, type Json, type JsonObject, textAt, withPath } from '../../hooks/model/json.ts';

/** `format`: `json`, `yaml` or `name`. One object stands alone, unless it is one of a list. */
export function formatted(objects: readonly JsonObject[], format: string, isList = objects.length !== 1): string {
  if (format === 'name')
    return objects.map((object) => `transaction.tx.janus.io/${textAt(object, 'metadata', 'name')}`).join('\n');
  const shown = objects.map((object) => withPath(object, ['metadata', 'managedFields'], undefined));
  const [first] = shown;
  const value: JsonObject = !isList && first !== undefined ? first : { apiVersion: 'v1', kind: 'List', items: shown };
  return format === 'yaml' ? yamlOf(value) : visible(JSON.stringify(value, null, 2));
}

// Controls above U+007F, directions and the like move a terminal as they are; JSON can write them all in ASCII.
function visible(json: string): string {
  const unit = (code: string): string => `\\u${code.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return json.replaceAll(/(?!\n)[\p{C}\p{Default_Ignorable_Code_Point}]/gu, (one) => one.split('').map(unit).join(''));
}

const exactInteger = defineScalarTag('tag:yaml.org,2002:int', {
  ...intYaml11Tag,
  identify: (value: Json) => isRawNumber(value) || intYaml11Tag.identify(value),
  represent: (value: Json) => (isRawNumber(value) ? value.rawJSON : (intYaml11Tag.represent?.(value) ?? String(value))),
});
const schema = DUMP_SCHEMA.withTags(exactInteger);

/** Every digit is kept. */
function yamlOf(value: Json): string {
  return dump(value, { lineWidth: -1, schema }).trimEnd();
}
