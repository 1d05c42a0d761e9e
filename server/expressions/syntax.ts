// Works on the tree of an expression: it finds unknown names, and replaces reads of fields and items.
import type { parse } from '@bufbuild/cel';

type Expression = NonNullable<ReturnType<typeof parse>['expr']>;

/** The function that reads a field or an item: `(container, key)`. No expression can call this name. */
export const reader = '@read';

/** A part of an expression, with the variables that only this part has. */
interface Part {
  readonly expression: Expression | undefined;
  readonly variables?: readonly string[];
}

export interface Known {
  readonly variables: readonly string[];
  readonly isFunction: (name: string) => boolean;
}

interface Fault {
  readonly id: bigint;
  readonly message: string;
}

/** The names of types. */
const types = ['int', 'uint', 'double', 'bool', 'string', 'bytes', 'list', 'map', 'null_type', 'type'];

/** The first unknown variable, function or type. */
export function faultIn(expression: Expression, known: Known): Fault | undefined {
  const own = ownFault(expression, known);
  if (own !== undefined) return { id: expression.id, message: own };
  for (const { expression: part, variables = [] } of partsOf(expression, known)) {
    const fault = part && faultIn(part, { ...known, variables: [...known.variables, ...variables] });
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function ownFault({ exprKind }: Expression, { variables, isFunction }: Known): string | undefined {
  switch (exprKind.case) {
    case 'identExpr':
      return [...variables, ...types].includes(exprKind.value.name)
        ? undefined
        : `no variable ${exprKind.value.name} (only object)`;
    case 'structExpr':
      return exprKind.value.messageName === '' ? undefined : `no type ${exprKind.value.messageName}`;
    case 'callExpr':
      return isCallable(exprKind.value, isFunction) ? undefined : `no function ${exprKind.value.function}`;
    default:
      return undefined;
  }
}

type Call = Extract<Expression['exprKind'], { readonly case: 'callExpr' }>['value'];

/** Operators have no letters in their names, and need no function. */
function isCallable(call: Call, isFunction: (name: string) => boolean): boolean {
  return !/^\w+$/.test(call.function) || isFunction(call.function) || isQualified(call, isFunction);
}

/** Whether the apparent target is a part of the function's name, as in `strings.quote(text)`. */
function isQualified({ target, function: name }: Call, isFunction: (name: string) => boolean): boolean {
  return target?.exprKind.case === 'identExpr' && isFunction(`${target.exprKind.value.name}.${name}`);
}

function partsOf({ exprKind }: Expression, { isFunction }: Known): readonly Part[] {
  const plain = (expressions: readonly (Expression | undefined)[]): readonly Part[] =>
    expressions.map((expression) => ({ expression }));
  switch (exprKind.case) {
    case 'selectExpr':
      return plain([exprKind.value.operand]);
    case 'callExpr':
      return plain([isQualified(exprKind.value, isFunction) ? undefined : exprKind.value.target, ...exprKind.value.args]);
    case 'listExpr':
      return plain(exprKind.value.elements);
    case 'structExpr':
      return plain(
        exprKind.value.entries.flatMap(({ keyKind, value }) => [keyKind.case === 'mapKey' ? keyKind.value : undefined, value]),
      );
    case 'comprehensionExpr':
      return partsOfLoop(exprKind.value);
    default:
      return [];
  }
}

type Loop = Extract<Expression['exprKind'], { readonly case: 'comprehensionExpr' }>['value'];

function partsOfLoop({ iterRange, accuInit, loopCondition, loopStep, result, ...names }: Loop): readonly Part[] {
  const variables = [names.accuVar, names.iterVar, names.iterVar2];
  const inside = [loopCondition, loopStep, result].map((expression) => ({ expression, variables }));
  return [{ expression: iterRange }, { expression: accuInit }, ...inside];
}

/** Replaces `a.b` and `a[b]` by calls of `reader`, in place. `has(a.b)` stays, because a missing field is no error there. */
export function readByFunction(expression: Expression, known: Known): void {
  for (const { expression: part } of partsOf(expression, known)) if (part) readByFunction(part, known);
  const { exprKind, id } = expression;
  if (exprKind.case === 'callExpr' && exprKind.value.function === '_[_]') exprKind.value.function = reader;
  if (exprKind.case !== 'selectExpr' || exprKind.value.testOnly || exprKind.value.operand === undefined) return;
  const { operand, field } = exprKind.value;
  expression.exprKind = {
    case: 'callExpr',
    value: { $typeName: 'cel.expr.Expr.Call', function: reader, args: [operand, textOf(field, id)] },
  };
}

function textOf(text: string, id: bigint): Expression {
  const value = { $typeName: 'cel.expr.Constant', constantKind: { case: 'stringValue', value: text } } as const;
  return { $typeName: 'cel.expr.Expr', id, exprKind: { case: 'constExpr', value } };
}
