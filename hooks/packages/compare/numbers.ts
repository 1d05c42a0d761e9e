// Numbers in schemas, exactly as written: integers above 2^53 too.
import { isRawNumber, type Json } from '../../model/json.ts';

/** Undefined if the value is no number. An integer that a double cannot hold becomes a bigint; `<` compares both exactly. */
export function numberOf(value: Json | undefined): number | bigint | undefined {
  if (typeof value === 'number') return value;
  return isRawNumber(value) ? BigInt(value.rawJSON) : undefined;
}
