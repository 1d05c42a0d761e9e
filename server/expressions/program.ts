// CEL: compiles a text to a program, and evaluates a program over an object. The result is a bool, `unset`, or a message on the error.
//
// An error of the library has a message, which may hold values of the object, and the id of a part of the expression. Only the message
// says whether a field was missing. So a function of this file reads fields and items: its errors have an id that no part has.
import {
  type CelError,
  type CelInput,
  CelScalar,
  type CelValue,
  celEnv,
  celError,
  celFunc,
  celType,
  isCelError,
  isCelList,
  isCelMap,
  parse,
  plan,
} from '@bufbuild/cel';
import { strings } from '@bufbuild/cel/ext';
import type { ExpressionResult } from '../../hooks/objects/cluster.ts';
import { foreign } from '../../hooks/objects/words.ts';
import { faultIn, type Known, readByFunction, reader } from './syntax.ts';
import { boundTexts, mostCharacters } from './texts.ts';

type Program =
  | { readonly kind: 'program'; run(object: CelInput): ExpressionResult }
  | { readonly kind: 'fault'; readonly message: string };

const unset = -1n;
const excess = -2n;

const texts = boundTexts([...celEnv().funcs, ...strings], excess);
const environment = celEnv({ funcs: [...texts.functions, celFunc(reader, [CelScalar.DYN, CelScalar.DYN], CelScalar.DYN, read)] });
const known: Known = { variables: ['object'], isFunction: (name) => environment.funcs.find(name) !== undefined };

/** Throws an error with the id `unset` if the field is missing, and another error if the value can have no fields. */
function read(container: CelValue, key: CelValue): CelValue {
  if (isCelMap(container)) return isThere(container.get(key as Parameters<typeof container.get>[0]));
  if (isCelList(container) && typeof key === 'bigint') return isThere(container.get(Number(key)));
  if (container === null) return isThere(undefined);
  throw new Error('neither a map nor a list');
}

function isThere(found: CelValue | undefined): CelValue {
  if (found === undefined) throw celError('unset', unset);
  return found;
}

/** Compiles a text. Its time is proportional to the nesting of the text. */
export function compile(text: string): Program {
  try {
    const { expr, sourceInfo } = parse(text);
    if (expr === undefined) return { kind: 'fault', message: 'the expression is empty' };
    const place = (id: bigint): string => placeOf(text, sourceInfo?.positions[String(id)]);
    const fault = faultIn(expr, known);
    if (fault !== undefined) return { kind: 'fault', message: `the expression has ${fault.message}${place(fault.id)}` };
    readByFunction(expr, known);
    const evaluate = plan(environment, expr);
    return { kind: 'program', run: (object) => resultOf(evaluate, object, place) };
  } catch (error) {
    return { kind: 'fault', message: syntaxFault(text, error) };
  }
}

function syntaxFault(text: string, error: unknown): string {
  if (error instanceof RangeError) return 'the expression is nested too deep';
  const offset = (error as { readonly location?: { readonly start?: { readonly offset?: number } } }).location?.start?.offset;
  if (offset === undefined) return `the expression cannot be read: ${foreign(String(error), 100)}`;
  if (offset >= text.length) return 'the expression ends too early';
  return `the expression cannot be read${placeOf(text, offset)}`;
}

/** The place as the end of a sentence. `offset` is that of the library, from 0. */
function placeOf(text: string, offset: number | undefined): string {
  return offset === undefined ? '' : ` at character ${offset + 1}, from "${foreign(text.slice(offset), 20)}"`;
}

type Place = (id: bigint) => string;

function resultOf(evaluate: ReturnType<typeof plan>, object: CelInput, place: Place): ExpressionResult {
  texts.reset();
  const result = evaluate(Object.assign(Object.create(null), { object }));
  if (typeof result === 'boolean') return { kind: 'value', value: result };
  if (isCelError(result)) return trouble(result, place);
  return { kind: 'broken', message: `the expression gives ${withArticle(nameOf(result))}, not a bool` };
}

function nameOf(value: CelValue): string {
  return value === null ? 'null' : celType(value).name;
}

function withArticle(name: string): string {
  if (name === 'null') return name;
  return `${/^[aeiou]/.test(name) && name !== 'uint' ? 'an' : 'a'} ${name}`;
}

function trouble(error: CelError, place: Place): ExpressionResult {
  const ids = idsOf(error);
  if (ids.includes(excess))
    return { kind: 'broken', message: `the expression makes more than ${mostCharacters} characters of text` };
  if (ids.includes(unset)) return { kind: 'unset' };
  const message = `the expression fails${place(ids[0] ?? 0n)}: a type or a value there does not suit`;
  return { kind: 'broken', message };
}

/** `||` and `&&` collect several errors. If one of them is a missing field, the result is `unset`. */
function idsOf(error: CelError): readonly bigint[] {
  const others = Array.isArray(error.cause) ? error.cause.filter(isCelError) : [];
  return [error.exprId ?? 0n, ...others.flatMap(idsOf)];
}
