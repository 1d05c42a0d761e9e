// Too few, too many, too long, and in the name of somebody else.
import fc from 'fast-check';
import { around, label } from '../chance.ts';
import { type BadTransaction, changeWith, goodTarget, invalid, ofSpec, some, specWith } from './specs.ts';

export const counts: readonly BadTransaction[] = [
  { name: 'no changes', spec: some(specWith([])), admission: 'at least 1 items', end: invalid(/spec\.changes is empty/) },
  {
    name: 'more than 500 changes',
    spec: fc
      .integer({ min: 501, max: 700 })
      .map((count) =>
        specWith(Array.from({ length: count }, (_, index) => changeWith({ target: { ...goodTarget, name: `f${index}` } }))),
      ),
    admission: 'must have at most 500 items',
    end: invalid(/has \d+ entries, at most 500 are allowed/),
    most: 10,
  },
  {
    name: 'a target that is listed twice',
    spec: fc
      .tuple(some('Create', 'Patch', 'Delete'), fc.integer({ min: 0, max: 20 }))
      .map(([type, between]) =>
        specWith([
          changeWith({}),
          ...Array.from({ length: between }, (_, index) => changeWith({ target: { ...goodTarget, name: `f${index}` } })),
          changeWith({ type }),
        ]),
      ),
    end: ['DuplicateTarget', /is the target of spec\.changes\[0\] and of spec\.changes/],
  },
  {
    name: 'durations out of bounds',
    spec: ofSpec(
      fc
        .tuple(some('lockTimeout', 'timeout'), some('0s', '0h', '29ms', '25h', '1000000h', '24h0m1s', '0.0001ms'))
        .map(([key, value]) => ({ [key]: value })),
    ),
    admission: 'write a duration from',
    end: invalid(/spec\.(lockTimeout|timeout) must be a duration from/),
  },
  {
    name: 'invalid durations',
    spec: ofSpec(
      fc
        .tuple(
          some('lockTimeout', 'lockWait', 'timeout'),
          some('-5m', '5', 'm', '1e9s', '5 m', '99999999999999999999h', 'NaN', '∞'),
        )
        .map(([key, value]) => ({ [key]: value })),
    ),
    admission: 'spec.',
    end: invalid(/spec\.(lockTimeout|lockWait|timeout) must be a duration from/),
  },
  {
    name: 'a time to live out of bounds',
    spec: ofSpec(
      fc
        .oneof(
          fc.integer({ max: -1 }),
          fc.maxSafeNat().filter((ttl) => ttl >= 2 ** 31),
        )
        .map((ttl) => ({ ttlSecondsAfterFinished: ttl })),
    ),
    admission: 'spec.ttlSecondsAfterFinished',
  },
];

export const accounts: readonly BadTransaction[] = [
  {
    name: 'ServiceAccount that is not there',
    spec: ofSpec(label.map((name) => ({ serviceAccountName: `x-${name}` }))),
    end: ['ServiceAccountMissing', /does not exist: create it/],
  },
  {
    name: 'ServiceAccount whose name would be another user, another namespace or another header',
    spec: ofSpec(
      around(label, some(':', '/', '\r\n', '\u0000', 'é', 'Ⅷ', ' ', '..', 'A')).map((serviceAccountName) => ({
        serviceAccountName,
      })),
    ),
    admission: 'write the name of a ServiceAccount',
    end: invalid(/spec\.serviceAccountName ".*" is not the name of a ServiceAccount/),
  },
  {
    name: 'ServiceAccount without rights',
    spec: some('nobody').map((serviceAccountName) => specWith([changeWith({})], { serviceAccountName })),
    end: ['Forbidden', /nobody may not get configmaps/],
  },
];
