// Numbers of schemas, as they are written: integers above 2^53 too.
import { isRawNumber, type Json } from '../../model/json.ts';

/** Undefined where it is no number. Integers that a double cannot hold come as bigint; `<` compares the two exactly. */
export function numberOf(value: Json | undefined): number | bigint | undefined {
  if (typeof value === 'number') return value;
  return isRawNumber(value) ? BigInt(value.rawJSON) : undefined;
}
