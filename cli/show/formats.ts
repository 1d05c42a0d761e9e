// Prints objects as kubectl does with -o. Like kubectl, it leaves managedFields out.
import {
  DEFAULT_SCALAR_STYLE_RULES,
  DUMP_SCHEMA,
  defineScalarTag,
  dump,
  intYaml11Tag,
  SCALAR_STYLE,
  type ScalarStyleRule,
} from 'js-yaml';
import { isRawNumber, type Json, type JsonObject, textAt, withPath } from '../../hooks/objects/json.ts';
import { clean } from '../../hooks/objects/words.ts';

/** `format`: `json`, `yaml` or `name`. One object is printed without a List, unless `isList` is set. */
export function formatted(objects: readonly JsonObject[], format: string, isList = objects.length !== 1): string {
  if (format === 'name')
    return objects.map((object) => `transaction.tx.janus.io/${clean(textAt(object, 'metadata', 'name') ?? '')}`).join('\n');
  const shown = objects.map((object) => withPath(object, ['metadata', 'managedFields'], undefined));
  const [first] = shown;
  const value: JsonObject = !isList && first !== undefined ? first : { apiVersion: 'v1', kind: 'List', items: shown };
  return format === 'yaml' ? yamlOf(value) : visible(JSON.stringify(value, null, 2));
}

// Control and direction characters can disguise a text, or move the cursor of a terminal. Both formats can escape them.
const hidden = /(?!\n)[\p{C}\p{Default_Ignorable_Code_Point}\u2028\u2029]/gu;

function visible(json: string): string {
  const unit = (code: string): string => `\\u${code.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return json.replaceAll(hidden, (one) => one.split('').map(unit).join(''));
}

const exactInteger = defineScalarTag('tag:yaml.org,2002:int', {
  ...intYaml11Tag,
  identify: (value: Json) => isRawNumber(value) || intYaml11Tag.identify(value),
  represent: (value: Json) => (isRawNumber(value) ? value.rawJSON : (intYaml11Tag.represent?.(value) ?? String(value))),
});
const schema = DUMP_SCHEMA.withTags(exactInteger);

// Only double-quoted text has escapes. js-yaml quotes only some of these characters, and escapes still fewer.
const quoteHidden: ScalarStyleRule = (layout) => {
  if (layout.node.value.search(hidden) >= 0) layout.style = SCALAR_STYLE.DOUBLE_QUOTED;
};
const scalarStyleRules = [quoteHidden, ...Object.values(DEFAULT_SCALAR_STYLE_RULES)];

/** Every digit is kept. */
function yamlOf(value: Json): string {
  return dump(value, { lineWidth: -1, schema, scalarStyleRules }).trimEnd().replaceAll(hidden, escapedInYaml);
}

function escapedInYaml(one: string): string {
  const hex = (one.codePointAt(0) ?? 0).toString(16).toUpperCase();
  return hex.length > 4 ? `\\U${hex.padStart(8, '0')}` : `\\u${hex.padStart(4, '0')}`;
}
