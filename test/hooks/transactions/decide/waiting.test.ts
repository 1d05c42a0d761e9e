// The same trouble is the same sentence at each try, whatever the API server adds to it: a status that changes wakes Metacontroller at once.
import t from 'tap';
import type { Passing } from '../../../../hooks/objects/failure.ts';
import type { SetStatus } from '../../../../hooks/transactions/decide/step.ts';
import { setAside, waitOut } from '../../../../hooks/transactions/decide/waiting.ts';
import { emptyStatus, type Status } from '../../../../hooks/transactions/model/status.ts';

const failure = (said: string): Passing => ({
  ...{ kind: 'transient', code: 500, reason: 'InternalError', message: '', fields: [], definitive: false },
  said,
});

const waits: Readonly<Record<string, (status: Status, said: string) => SetStatus>> = {
  forward: (status, said) => waitOut(status, 'Create of ConfigMap s/a', failure(said)),
  'in an undo': (status, said) => setAside(status, 0, 'undoing Create of ConfigMap s/a', failure(said)),
};

for (const [name, wait] of Object.entries(waits))
  t.test(name, async (t) => {
    for (const changes of [1, 2]) {
      const { items, ...empty } = emptyStatus(changes);
      const begun: Status = { ...empty, items: items.map((item) => ({ ...item, progress: { kind: 'announced' } })) };
      const { status } = wait(begun, 'read 127.0.0.1:4711: connection reset');
      t.match(status.message, /failed \(InternalError\): read 127\.0\.0\.1:4711: connection reset; retrying/);
      t.same(wait(status, 'read 127.0.0.1:4712: connection reset').status, status);
    }
  });
