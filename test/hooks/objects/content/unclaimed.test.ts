// Values without an owner: live object x managers -> whether any writer may have set the value.
import t from 'tap';
import { listKindsOf } from '../../../../hooks/objects/content/lists.ts';
import { isUnclaimed, ownersAt } from '../../../../hooks/objects/content/owners.ts';
import { type JsonObject, parseJson } from '../../../../hooks/objects/json.ts';
import { type EntryExtras, entry, managed } from '../../../support/managed-fields.ts';
import { table } from '../../../support/table.ts';

const values: JsonObject = {
  apiVersion: 'v1',
  data: { a: '1', stamp: 'x' },
  selector: { app: 'web' },
  items: [{ name: 'one', v: 1 }],
};

const rows = table<'reason' | 'path' | 'owned' | 'version' | 'owners' | 'unclaimed'>(`
reason                                        | path                  | owned                                                | version | owners | unclaimed
a field with an owner                         | f:data f:a            | {"f:data":{"f:a":{}}}                                |         | them   | no
a field without one, beside one that has      | f:data f:stamp        | {"f:data":{"f:a":{}}}                                |         |        | yes
its map has an owner, and members with owners | f:data f:stamp        | {"f:data":{".":{},"f:a":{}}}                         |         |        | yes
it lies in what is owned as a whole           | f:selector f:app      | {"f:selector":{}}                                    |         | them   | no
something below it is owned                   | f:items               | {"f:items":{"k:{\\"name\\":\\"one\\"}":{"f:v":{}}}}  |         | them   | no
it is not there                               | f:data f:gone         | {"f:data":{"f:a":{}}}                                |         |        | no
somebody's fields have names of another version | f:data f:stamp      | {"f:data":{"f:a":{}}}                                | v1beta1 |        | no
nobody owns anything                          | f:data f:stamp        |                                                      |         |        | no
`);

for (const { reason, path, owned, version, owners, unclaimed } of rows) {
  t.test(reason, async (t) => {
    const extras: EntryExtras = version === '' ? {} : { apiVersion: version };
    const object = owned === '' ? values : managed(values, entry('them', parseJson(owned) as JsonObject, extras));
    const found = ownersAt(object, path.split(' ')).map(({ name }) => name);
    t.equal(found.join(' '), owners);
    t.equal(isUnclaimed(object, path.split(' '), listKindsOf(object)), unclaimed === 'yes');
  });
}
