// Who may write, and for how long.
import type { Sabotage } from '../sabotage.ts';

const lockTests = ['test/hooks/decide/locks.test.ts'];
const sameNames = ['test/scenarios/locks/contention.test.ts'];

export const locks: readonly Sabotage[] = [
  {
    name: 'holder-without-namespace',
    fault: 'the holder of a lock is the bare name of the Transaction',
    edits: [
      {
        file: 'hooks/model/transaction.ts',
        find: "export function holderOf(transaction: Pick<Transaction, 'namespace' | 'name' | 'uid'>): string {",
        replace:
          "export function holderOf(transaction: Pick<Transaction, 'namespace' | 'name' | 'uid'>): string {\n  if (transaction.uid !== '') return transaction.name;",
      },
    ],
    caughtBy: ['test/hooks/model/reference.test.ts', ...sameNames],
  },
  {
    name: 'lock-without-group',
    fault: 'kinds of the same name in two API groups share a lock',
    edits: [
      {
        file: 'hooks/model/reference.ts',
        find: 'return [groupOf(reference.apiVersion), reference.kind,',
        replace: 'return [reference.kind,',
      },
    ],
    caughtBy: ['test/hooks/model/reference.test.ts'],
  },
  {
    name: 'lock-in-own-namespace',
    fault: 'locks are in the namespace of the Transaction: two namespaces lock one cluster-scoped object at once',
    edits: [
      {
        file: 'hooks/looking.ts',
        find: '...{ engineNamespace, server,',
        replace: '...{ engineNamespace: transaction.namespace, server,',
      },
    ],
    caughtBy: sameNames,
  },
  {
    name: 'lock-not-looked-at',
    fault: 'a change is made without a check that its lock is still held',
    edits: [
      {
        file: 'hooks/decide/guards.ts',
        find: "return state === 'ours' ? { kind: 'clear'",
        replace: "return state !== undefined ? { kind: 'clear'",
      },
    ],
    caughtBy: ['test/hooks/decide/decide.test.ts'],
  },
  {
    name: 'lock-runs-out',
    fault: 'a write is sent although the lock of its target may expire before it lands',
    edits: [
      {
        file: 'hooks/sync.ts',
        find: 'nowAt + lockTime(step, observation) - parts.timing.writeTimeout',
        replace: 'Number.POSITIVE_INFINITY',
      },
    ],
    caughtBy: ['test/scenarios/locks/write-before-expiry.test.ts'],
  },
  {
    name: 'unlisted-lock-is-free',
    fault:
      'a lock that is not among ours counts as free: an undo tries to create it again and again, and never waits for its holder',
    edits: [
      {
        file: 'hooks/observe/item.ts',
        find: 'const lease = name === undefined ? absent : await',
        replace: 'const lease = source.reader !== undefined ? absent : await',
      },
    ],
    caughtBy: ['test/scenarios/locks/lost-locks.test.ts'],
  },
  {
    name: 'one-lock-renewed',
    fault: 'only one of the locks is renewed, the others expire',
    edits: [
      {
        file: 'hooks/decide/guards.ts',
        find: "{ kind: 'renew', leases, because:",
        replace: "{ kind: 'renew', leases: leases.slice(0, 1), because:",
      },
    ],
    caughtBy: ['test/hooks/decide/decide.test.ts', 'test/scenarios/locks/renewal.test.ts'],
  },
  {
    name: 'release-of-anybodys',
    fault: 'locks are released without a check of their holder',
    edits: [
      {
        file: 'hooks/observe/read.ts',
        find: 'objects: listed.items.filter(isOurs) }',
        replace: 'objects: listed.items.filter((lease) => isOurs(lease) || true) }',
      },
    ],
    caughtBy: ['test/scenarios/locks/lost-locks.test.ts'],
  },
  {
    name: 'takeover-too-early',
    fault: 'a lock is taken over before it has expired',
    edits: [{ file: 'hooks/locks/state.ts', find: 'age > life + serverTimeResolution', replace: 'age > life / 2' }],
    caughtBy: lockTests,
  },
  {
    name: 'takeover-unconditional',
    fault: 'two Transactions that find a lock expired both take it',
    edits: [
      {
        file: 'hooks/decide/locks.ts',
        find: "return create.length + replace.length === 0 ? { kind: 'acquired' } : { kind: 'acquire', create, replace };",
        replace: "return create.length === 0 ? { kind: 'acquired' } : { kind: 'acquire', create, replace };",
      },
    ],
    caughtBy: lockTests,
  },
  {
    name: 'locks-kept-while-waiting',
    fault: 'a Transaction that waits for a lock keeps later locks: two Transactions wait for each other',
    edits: [
      {
        file: 'hooks/decide/locks.ts',
        find: 'const beyond = view.locks.slice(blocked + 1).map(',
        replace: 'const beyond = view.locks.slice(blocked + 1, 0).map(',
      },
    ],
    caughtBy: lockTests,
  },
  {
    name: 'locks-unordered',
    fault: 'locks are acquired in the order of the changes: two Transactions wait for each other',
    edits: [
      {
        file: 'hooks/observe/begin.ts',
        find: 'const locks = [...wanted].sort((left, right) => (left.name < right.name ? -1 : 1));',
        replace: 'const locks = [...wanted];',
      },
    ],
    caughtBy: sameNames,
  },
  {
    name: 'permissions-after-locks',
    fault: 'locks are acquired before permissions are reviewed',
    edits: [
      {
        file: 'hooks/observe/begin.ts',
        find: 'const isChecked = context.carry.checked || context.isWaiting;',
        replace: 'const isChecked = !context.carry.checked;',
      },
    ],
    caughtBy: ['test/scenarios/lifecycle/refusals.test.ts'],
  },
  {
    name: 'undo-rights-unasked',
    fault: 'permissions are reviewed for the changes, not for their undo',
    edits: [
      {
        file: 'hooks/checks/permissions.ts',
        find: "...asked(resolved, back, 'undo')]",
        replace: ']',
      },
    ],
    caughtBy: [
      'test/hooks/checks/targets.test.ts',
      'test/scenarios/lifecycle/refusals.test.ts',
      'test/scenarios/lifecycle/account.test.ts',
    ],
  },
  {
    name: 'local-clock',
    fault: 'locks follow the clock of the process, not the API server’s',
    edits: [
      {
        file: 'server/kubernetes/transport.ts',
        find: 'const serverTime = Date.parse(String(headers.date));',
        replace: 'const serverTime = Date.now();',
      },
    ],
    caughtBy: ['test/scenarios/locks/server-time.test.ts'],
  },
  {
    name: 'finished-with-locks',
    fault: 'the condition Finished is True while locks are held',
    edits: [
      {
        file: 'hooks/outcome/conditions.ts',
        find: 'return isTerminal(status.phase) && !holdsLocks(status);',
        replace: 'return isTerminal(status.phase);',
      },
    ],
    caughtBy: ['test/hooks/outcome/conditions.test.ts'],
  },
  {
    name: 'refused-lease-beside-taken-ones',
    fault: 'a Transaction that ends because a Lease is refused keeps those that it has taken beside it',
    edits: [
      {
        file: 'hooks/outcome/locks.ts',
        find: "answer(stoppedBy({ ...observation, status: meanwhile }, message, 'LockRefused'));",
        replace:
          "answer(stoppedBy({ ...observation, status: observation.status }, message, meanwhile.phase === 'Failed' ? 'Refused' : 'LockRefused'));",
      },
    ],
    caughtBy: ['test/hooks/outcome/result.test.ts', 'test/scenarios/locks/refused-locks.test.ts'],
  },
  {
    name: 'blind-stay',
    fault: 'a process that cannot read the locks stays away for as long as it is told, and they run out',
    edits: [
      {
        file: 'hooks/reply.ts',
        find: 'const longestBlindStay = 15;',
        replace: 'const longestBlindStay = longestStay;',
      },
    ],
    caughtBy: ['test/scenarios/calls/retry-after.test.ts'],
  },
  {
    name: 'refused-release-is-done',
    fault: 'a Transaction is Finished although the API server refuses to delete its Leases, which lock its objects on',
    edits: [
      {
        file: 'hooks/outcome/result.ts',
        find: "if (kinds.includes('refused')) return answer",
        replace: "if (kinds.includes('refused') && kinds.length === 0) return answer",
      },
    ],
    caughtBy: ['test/scenarios/locks/unreleased-locks.test.ts'],
  },
  {
    name: 'trouble-over-the-end',
    fault: 'trouble while locks are released replaces the message of the end for good',
    edits: [
      {
        file: 'hooks/decide/waiting.ts',
        find: 'const next = isTerminal(status.phase) && !isNews ? status :',
        replace: 'const next = isTerminal(status.phase) && status.message === message ? status :',
      },
    ],
    caughtBy: ['test/scenarios/locks/unreleased-locks.test.ts'],
  },
  {
    name: 'withdrawn-request-waits-on',
    fault: 'an end says for ever that it waits for a lock, once the request to undo it is withdrawn',
    edits: [
      {
        file: 'hooks/decide/transitions.ts',
        find: 'return { ...rest, message: status.phase ===',
        replace: "return { ...rest, message: status.message !== '' ? status.message : status.phase ===",
      },
    ],
    caughtBy: ['test/scenarios/locks/unreleased-locks.test.ts'],
  },
  {
    name: 'deletion-says-nothing',
    fault: 'a Transaction that is being deleted does not say what holds it up',
    edits: [{ file: 'hooks/decide/waiting.ts', find: ' && !isNews ? status', replace: ' ? status' }],
    caughtBy: ['test/scenarios/lifecycle/blocked-deletion.test.ts'],
  },
];
