// Packages: what a registry sends, which versions are chosen, how a CRD may change, and where secrets go.
import type { Sabotage } from '../sabotage.ts';

export const packages: readonly Sabotage[] = [
  {
    name: 'package-digest-unverified',
    fault: 'content of a registry is not checked against its digest',
    edits: [
      {
        file: 'server/registry/cache.ts',
        find: 'if (found !== digest) throw invalid(`expected content',
        replace: "if (found === '') throw invalid(`expected content",
      },
    ],
    caughtBy: ['test/packages/registry/hostile.test.ts'],
  },
  {
    name: 'package-cache-in-place',
    fault: 'a blob has its name in the cache before it is whole',
    edits: [
      {
        file: 'server/registry/cache.ts',
        find: 'const temporary = ',
        replace: 'const temporary = path || ',
      },
    ],
    caughtBy: ['test/packages/registry/cache.test.ts'],
  },
  {
    name: 'package-stream-unbounded',
    fault: 'the unpacked size of a layer has no limit while it streams',
    edits: [{ file: 'server/registry/tar.ts', find: 'if (bytes > limits.unpackedBytes) throw', replace: 'if (bytes < 0) throw' }],
    caughtBy: ['test/packages/contents.test.ts'],
  },
  {
    name: 'package-aliases-free',
    fault: 'values that YAML aliases repeat do not count',
    edits: [{ file: 'server/yaml.ts', find: 'if (left[what] < 0)', replace: "if (left[what] < 0 && what === 'characters')" }],
    caughtBy: ['test/packages/contents.test.ts'],
  },
  {
    name: 'package-bystander-unheard',
    fault: 'the constraints of installed packages outside of the tree are ignored',
    edits: [
      {
        file: 'hooks/packages/resolve/problem.ts',
        find: 'if (!dependencies.has(source)) dependencies.set(source, entry.dependencies)',
        replace: 'if (dependencies.has(source)) dependencies.set(source, entry.dependencies)',
      },
    ],
    caughtBy: ['test/packages/resolve.test.ts'],
  },
  {
    name: 'package-circle-unseen',
    fault: 'a cycle does not rule out a choice',
    edits: [
      {
        file: 'hooks/packages/resolve/conflicts.ts',
        find: 'dependenciesFirst(problem.root.source, state.dependencies)',
        replace: "dependenciesFirst('', state.dependencies)",
      },
    ],
    caughtBy: ['test/packages/resolve.test.ts'],
  },
  {
    name: 'package-circle-after-versions',
    fault: 'for packages that require each other in a cycle, unsuitable versions are reported instead',
    edits: [
      {
        file: 'hooks/packages/resolve/refusals.ts',
        find: 'if (cycle !== undefined)',
        replace: 'if (cycle !== undefined && stuckIn(state, problem) === undefined)',
      },
    ],
    caughtBy: ['test/packages/resolve.test.ts'],
  },
  {
    name: 'package-downgraded',
    fault: 'an installed package may be replaced by a lower version',
    edits: [
      {
        file: 'hooks/packages/resolve/candidates.ts',
        find: 'compareVersions(version, present) >= 0',
        replace: 'compareVersions(version, present) !== 0',
      },
    ],
    caughtBy: ['test/packages/resolve.test.ts'],
  },
  {
    name: 'package-comparator-dropped',
    fault: 'a pattern that is tightened in a schema is not noticed',
    edits: [
      { file: 'hooks/packages/compare/rules.ts', find: "  pattern: mayGo('pattern'),", replace: '  pattern: () => undefined,' },
    ],
    caughtBy: ['test/packages/compare.test.ts'],
  },
  {
    name: 'package-stored-version-ignored',
    fault: 'a field that the stored version loses, which is not served, is not noticed',
    edits: [
      {
        file: 'hooks/packages/compare/definition.ts',
        find: ', ...versions, ...lostInStorage(old, next)];',
        replace: ', ...versions];',
      },
    ],
    caughtBy: ['test/packages/compare-stored.test.ts'],
  },
  {
    name: 'package-prereleases-mixed',
    fault: 'a prerelease in one term admits prereleases everywhere',
    edits: [
      {
        file: 'hooks/packages/model/constraint.ts',
        find: "(version.prerelease === '' || admitsPrereleases) &&",
        replace: "(version.prerelease === '' || constraint.anyOf.some((one) => one.admitsPrereleases || admitsPrereleases)) &&",
      },
    ],
    caughtBy: ['test/packages/constraint.test.ts'],
  },
  {
    name: 'package-secret-redirected',
    fault: 'the authorization for a registry follows its redirects to other hosts',
    edits: [
      {
        file: 'server/registry/session.ts',
        find: 'const isShown = url.origin === start.origin && authorization',
        replace: 'const isShown = authorization',
      },
    ],
    caughtBy: ['test/packages/registry/hostile.test.ts'],
  },
  {
    name: 'package-challenge-elsewhere',
    fault: 'a host that a registry redirects to may ask for the secret of the registry',
    edits: [
      {
        file: 'server/registry/session.ts',
        find: 'first.reply.code !== 401 || !first.isOwn',
        replace: 'first.reply.code !== 401',
      },
    ],
    caughtBy: ['test/packages/registry/hostile.test.ts'],
  },
  {
    name: 'package-cache-of-all',
    fault: 'what one repository gave is taken for content of another',
    edits: [
      {
        file: 'server/registry/cache.ts',
        find: "createHash('sha256').update(source)",
        replace: "createHash('sha256').update(String(source === ''))",
      },
    ],
    caughtBy: ['test/packages/registry/hostile.test.ts'],
  },
  {
    name: 'package-led-inside',
    fault: 'a registry may lead to any address',
    edits: [
      {
        file: 'server/registry/addresses.ts',
        find: 'if (first === undefined || addresses.some(isRefused))',
        replace: 'if (first === undefined || addresses.length > 99)',
      },
    ],
    caughtBy: ['test/packages/registry/hostile.test.ts'],
  },
  {
    name: 'package-cache-open',
    fault: 'cached content is given to anybody who names its digest',
    edits: [
      {
        file: 'server/registry/client.ts',
        find: 'if (!parts.allowed.has(',
        replace: 'if (parts.allowed.has(',
      },
    ],
    caughtBy: ['test/packages/registry/client.test.ts'],
  },
  {
    name: 'package-parses-all-at-once',
    fault: 'all packages of a tree are parsed at once, each with a document of some MiB',
    edits: [{ file: 'server/registry/client.ts', find: 'const parsedAtOnce = 2;', replace: 'const parsedAtOnce = 200;' }],
    caughtBy: ['test/packages/registry/hostile.test.ts'],
  },
  {
    name: 'package-objects-without-end',
    fault: 'the packages of a tree fill the memory with the names of their objects',
    edits: [{ file: 'hooks/packages/observe/ahead.ts', find: ' || members > mostMembers', replace: '' }],
    caughtBy: ['test/packages/ahead.test.ts'],
  },
  {
    name: 'package-lookups-outlast',
    fault: 'names that nobody answers for keep a call beyond its time',
    edits: [
      {
        file: 'server/registry/late.ts',
        find: "signal.addEventListener('abort', stop, { once: true });",
        replace: '',
      },
    ],
    caughtBy: ['test/packages/registry/hostile.test.ts'],
  },
  {
    name: 'package-separators',
    fault: 'empty documents without end are read',
    edits: [
      {
        file: 'server/registry/documents.ts',
        find: 'if (separated > limits.documents)',
        replace: 'if (separated > limits.unpackedBytes)',
      },
    ],
    caughtBy: ['test/packages/contents.test.ts'],
  },
  {
    name: 'package-hosts-of-no-url',
    fault: 'a source is taken that no URL can have, and throws where it is read',
    edits: [{ file: 'hooks/packages/model/reference.ts', find: ' && isHost(registry)', replace: '' }],
    caughtBy: ['test/packages/contents.test.ts'],
  },
  {
    name: 'package-waits-for-others',
    fault: 'a call waits for the requests of another one, beyond its own time',
    edits: [{ file: 'server/registry/client.ts', find: 'turns.take(asker, signal)', replace: 'turns.take(asker)' }],
    caughtBy: ['test/packages/registry/turns.test.ts'],
  },
  {
    name: 'package-layers-repeated',
    fault: 'a layer is read once for each time that a manifest names it',
    edits: [{ file: 'server/registry/client.ts', find: 'known.get(key) ?? make()', replace: 'make()' }],
    caughtBy: ['test/packages/registry/turns.test.ts'],
  },
  {
    name: 'package-digests-outlast',
    fault: 'cached layers of some MiB are read for their digests when the time of the call is over',
    edits: [{ file: 'server/registry/cache.ts', find: 'createReadStream(path, { signal })', replace: 'createReadStream(path)' }],
    caughtBy: ['test/packages/registry/cache.test.ts'],
  },
  {
    name: 'package-names-without-end',
    fault: 'the packages of a tree fill the memory with names of some MiB',
    edits: [{ file: 'hooks/packages/observe/ahead.ts', find: ' || characters > mostCharacters', replace: '' }],
    caughtBy: ['test/packages/ahead.test.ts'],
  },
  {
    name: 'package-reads-begin-at-once',
    fault: 'all packages of a tree are read before it is known how much they hold',
    edits: [
      { file: 'hooks/packages/observe/ahead.ts', find: '[inLanes(), inLanes()]', replace: '[inLanes(), (work) => work()]' },
    ],
    caughtBy: ['test/packages/ahead.test.ts'],
  },
  {
    name: 'package-led-to-metadata',
    fault: 'a registry inside may lead to the metadata of a cloud under an address that is not link-local',
    edits: [{ file: 'server/registry/addresses.ts', find: "'100.100.100.200/32', ", replace: '' }],
    caughtBy: ['test/packages/registry/hostile.test.ts'],
  },
  {
    name: 'package-led-by-translation',
    fault: 'an IPv4 address that is translated is not looked at',
    edits: [{ file: 'server/registry/addresses.ts', find: "'::ffff:0:0:0/96', ", replace: '' }],
    caughtBy: ['test/packages/registry/hostile.test.ts'],
  },
  {
    name: 'package-ports-of-two-forms',
    fault: 'a port that begins with 0 makes a second source of one registry',
    edits: [{ file: 'hooks/packages/model/reference.ts', find: '(?::[1-9][0-9]{0,4})?', replace: '(?::[0-9]{1,5})?' }],
    caughtBy: ['test/packages/contents.test.ts'],
  },
];
