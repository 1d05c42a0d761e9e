// The documents of -o json against their schemas.
import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';

/** `name`: of the file schemas/NAME.schema.json. Throws with the faults if the document does not fit. */
export function fits(name: string, document: unknown): true {
  const schema = JSON.parse(readFileSync(new URL(`../../schemas/${name}.schema.json`, import.meta.url), 'utf8'));
  const validate = new Ajv({ strict: false }).compile(schema);
  if (validate(document)) return true;
  throw new Error(`does not fit ${name}: ${JSON.stringify(validate.errors)} ${JSON.stringify(document).slice(0, 2_000)}`);
}
