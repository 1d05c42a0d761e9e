// Whether a target names an object that can exist, and one that a Transaction may change.

import { isObject } from '../../objects/json.ts';
import { groupOf } from '../../objects/reference.ts';
import type { Change, Target } from '../model/change.ts';
import type { Reason } from '../model/reason.ts';
import { group } from '../model/transaction.ts';
import { article, notOneObject } from './change-fields.ts';
import { placesOf } from './target-places.ts';

export type Message = readonly [reason: Reason, message: string];

/** Groups of objects that control this engine or Metacontroller: the engine refuses them by group, whichever kinds are served. */
const refusedGroups: readonly string[] = [group, 'metacontroller.k8s.io'];

// Path segments of the API. RBAC names may hold `:` and blanks, so this is no stricter. Source: apimachinery, path.IsValidPathSegmentName.
const segment = /^(?!\.{1,2}$)[^/%\p{Cc}\p{Zl}\p{Zp}]{1,253}$/u;
const dnsLabel = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
const subdomain = '[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*';
const groupVersion = new RegExp(`^((?=[^/]{1,253}/)${subdomain}/)?v[a-z0-9]{1,62}$`);
const kindName = /^[A-Za-z][A-Za-z0-9]{0,62}$/;

/** The name of a ServiceAccount. */
export const dnsName = new RegExp(`^(?=.{1,253}$)${subdomain}$`);

export function targetMessages(change: Change): readonly Message[] {
  const { target, content, contentFrom, isInferred } = change;
  const wrong = notOneObject(change);
  // Of what names no object, nothing else is worth saying.
  if (wrong !== undefined) return [['Invalid', wrong]];
  if (isInferred !== true) return isMissing(target) ? [['Invalid', missingTarget(change)]] : nameMessages(change);
  return contentFrom === undefined && isObject(content) ? nameMessages(change) : [];
}

/** Whether the user wrote no target. */
function isMissing({ apiVersion, kind, name }: Target): boolean {
  return apiVersion === '' && kind === '' && name === '';
}

function missingTarget({ type }: Change): string {
  return `target is missing: write apiVersion, kind and name of the object, which ${article(type)} requires`;
}

function nameMessages(change: Change): readonly Message[] {
  const { target } = change;
  const place = placesOf(change);
  const { apiVersion, kind, name, namespace } = target;
  const checked: readonly (readonly [isGood: boolean, key: keyof Target, what: string])[] = [
    [groupVersion.test(apiVersion), 'apiVersion', 'a version such as v1 or apps/v1'],
    [kindName.test(kind), 'kind', 'the name of a kind'],
    [segment.test(name), 'name', 'a name that an object can have'],
    [namespace === undefined || dnsLabel.test(namespace), 'namespace', 'a name that a Namespace can have'],
  ];
  const wrong = checked.flatMap(([isGood, key, what]): readonly Message[] => {
    if (isGood) return [];
    const found = target[key] ?? '';
    return [
      [
        'Invalid',
        found === '' ? `${place[key]} is missing: write ${what}` : `${place[key]} "${printable(found)}" is not ${what}`,
      ],
    ];
  });
  const targetGroup = groupOf(apiVersion);
  if (!refusedGroups.includes(targetGroup)) return wrong;
  return [...wrong, ['Refused', `the kinds of ${targetGroup} control Transactions: they cannot be targets`]];
}

export function printable(text: string): string {
  return text.slice(0, 60).replaceAll(/[^\x20-\x7e]/g, '?');
}
