// Names of Roles and bindings are free text, if a path can hold them: blanks, colons, other scripts. Locks, messages and requests work
// with them.
import t from 'tap';
import { at, type JsonObject } from '../../../hooks/objects/json.ts';
import { must } from '../../support/client.ts';
import { commit, undoAll } from '../../support/round-trip.ts';
import { startStage } from '../../support/stage.ts';
import { change } from '../../support/targets.ts';

const apiVersion = 'rbac.authorization.k8s.io/v1';
const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }];
const more = [{ apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] }];
const role: JsonObject = { apiVersion, kind: 'Role' };

t.test('a Transaction changes, deletes and restores Roles whose names hold blanks', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client, path } = stage;
  const [one, other] = ['pod reader: all', 'é "a&b=c?d#e+f"'];
  const where = (name: string): string => path(`${apiVersion}/roles/${encodeURIComponent(name)}`);
  for (const name of [one, other]) must(await client.create(path(`${apiVersion}/roles`), { ...role, metadata: { name }, rules }));
  const changes = [change('Patch', one, { rules: more }, role), change('Delete', other, undefined, role)];
  const status = await commit(stage, 'roles', changes);
  for (const name of [one, other]) t.ok(JSON.stringify(at(status, 'items')).includes(JSON.stringify(name).slice(1, -1)), name);
  t.same(must(await client.get(where(one))).rules, more);
  t.equal((await client.get(where(other))).code, 404);
  await undoAll(stage, 'roles');
  for (const name of [one, other]) t.same(must(await client.get(where(name))).rules, rules, name);
});
