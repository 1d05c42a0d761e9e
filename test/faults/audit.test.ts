// The reader of the audit log: a request that it cannot read must not count as a request that was not sent.
import { appendFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { engineUser } from '../support/engine-identity.ts';
import { openAuditTrail } from './audit.ts';

const line = (run: string): string =>
  `${JSON.stringify({
    stage: 'ResponseComplete',
    verb: 'create',
    user: { username: engineUser },
    requestURI: `/api/v1/namespaces/shop/configmaps/${run}-a`,
    objectRef: { resource: 'configmaps', namespace: 'shop', name: `${run}-a`, apiVersion: 'v1' },
    responseStatus: { code: 201 },
  })}\n`;

t.test('events come by run, each once; a line that is not whole yet comes later', async (t) => {
  const path = join(t.testdir(), 'audit.log');
  writeFileSync(path, line('run1') + line('run2') + line('run1').slice(0, 40));
  const trail = openAuditTrail(path);
  t.equal(trail.take('run1').length, 1);
  t.equal(trail.take('run1').length, 0);
  appendFileSync(path, line('run1').slice(40));
  t.equal(trail.take('run1').length, 1);
  t.equal(trail.take('run2').length, 1);
});

t.test('a log that was rotated is refused', async (t) => {
  const path = join(t.testdir(), 'audit.log');
  writeFileSync(path, line('run1'));
  const trail = openAuditTrail(path);
  renameSync(path, `${path}.1`);
  writeFileSync(path, line('run1'));
  t.throws(() => trail.take('run1'), /audit\.log was rotated: the events after it are not seen/);
});
