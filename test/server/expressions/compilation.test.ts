// Texts that are no expressions, and why.
import t from 'tap';
import { open, patient } from './opened.ts';

const rows: readonly (readonly [text: string, message: string | RegExp])[] = [
  ['', 'the expression ends too early'],
  ['object.status.ready ==', 'the expression cannot be read at character 21, from "=="'],
  ['object.status.ready = true', 'the expression cannot be read at character 21, from "= true"'],
  ['(object.ready', 'the expression ends too early'],
  ['object.ready\n\u202e', 'the expression cannot be read at character 14, from "\\u{202e}"'],
  ['object.?ready', /cannot be read at character 7/],
  ['self.status.ready', 'the expression has no variable self (only object) at character 1, from "self.status.ready"'],
  ['object.items.all(item, itme.ready)', /no variable itme \(only object\) at character 24/],
  ['object.items.exists(item, item.ready) && item.ready', /no variable item \(only object\) at character 42/],
  ['[object.a, {"a": b}][0]', /no variable b /],
  ['{a: 1}', /no variable a /],
  ['constructor == object', /no variable constructor /],
  ['quantity("1Gi") > object.size', 'the expression has no function quantity at character 1, from "quantity("1Gi") > o…"'],
  ['object.name.isReady()', /no function isReady/],
  ['strings.unquote(object.name)', /no function unquote/],
  ['google.protobuf.Any{}', /no type google.protobuf.Any/],
];

t.test('the compiler refuses invalid text, with its place', async (t) => {
  const { expressions } = open(t, patient);
  for (const [text, message] of rows) {
    const refused = await expressions.compile(text);
    t.match(refused, message, text);
    t.same(
      await expressions.evaluate(text, {}),
      { kind: 'broken', message: refused },
      `${text}: if it is evaluated nevertheless`,
    );
  }
});

t.test('an expression may have 1024 characters', async (t) => {
  const { expressions } = open(t, patient);
  const term = ' || object.replicas == 3';
  const longest = `false${term.repeat(42)}`.padEnd(1024);
  t.equal(longest.length, 1024);
  t.equal(await expressions.compile(longest), undefined);
  t.same(await expressions.evaluate(longest, { replicas: 3 }), { kind: 'value', value: true });
  t.same(await expressions.evaluate(longest, { replicas: 2 }), { kind: 'value', value: false });
});

t.test('an expression that nests as deep as 1024 characters allow does no harm', async (t) => {
  const { expressions } = open(t, { limit: 2_000, idle: 60_000 });
  for (const [text, nests] of [
    ['(', 'parentheses'],
    ['[', 'lists'],
    ['{1:', 'maps'],
    ['-(', 'operators'],
    ['has(', 'macros'],
  ] as const)
    t.type(await expressions.compile(text.repeat(1024 / text.length)), 'string', nests);
  t.equal(await expressions.compile('object.ready'), undefined);
});
