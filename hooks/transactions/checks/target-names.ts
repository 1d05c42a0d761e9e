// Whether a target names an object that can exist, and one that a Transaction may change.

import { isObject } from '../../objects/json.ts';
import { groupOf } from '../../objects/reference.ts';
import type { Change, Target } from '../model/change.ts';
import type { Reason } from '../model/reason.ts';
import { group } from '../model/transaction.ts';
import { notOneObject } from './change-fields.ts';

export type Message = readonly [reason: Reason, message: string];

/** Groups of objects that control this engine or Metacontroller: the engine refuses them by group, whichever kinds are served. */
const refusedGroups: readonly string[] = [group, 'metacontroller.k8s.io'];

// Path segments of the API. RBAC names contain `:`, so this is no stricter. Source: apimachinery, path.IsValidPathSegmentName.
const segment = /^(?!\.{1,2}$)[^/%\p{Cc}\s]{1,253}$/u;
const dnsLabel = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
const subdomain = '[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*';
const groupVersion = new RegExp(`^((?=[^/]{1,253}/)${subdomain}/)?v[a-z0-9]{1,62}$`);
const kindName = /^[A-Za-z][A-Za-z0-9]{0,62}$/;

/** The name of a ServiceAccount. */
export const dnsName = new RegExp(`^(?=.{1,253}$)${subdomain}$`);

/** The place in the spec for each member of the target. */
type Places = Readonly<Record<keyof Target, string>>;

const inTarget: Places = {
  apiVersion: 'target.apiVersion',
  kind: 'target.kind',
  name: 'target.name',
  namespace: 'target.namespace',
};

const inContent: Places = {
  apiVersion: 'content.apiVersion',
  kind: 'content.kind',
  name: 'content.metadata.name',
  namespace: 'content.metadata.namespace',
};

export function targetMessages(change: Change): readonly Message[] {
  const { target, content, contentFrom, isInferred } = change;
  const wrong = notOneObject(change);
  // Of what names no object, nothing else is worth saying.
  if (wrong !== undefined) return [['Invalid', wrong]];
  if (isInferred !== true) return nameMessages(target, inTarget);
  return contentFrom === undefined && isObject(content) ? nameMessages(target, inContent) : [];
}

function nameMessages(target: Target, place: Places): readonly Message[] {
  const { apiVersion, kind, name, namespace } = target;
  const checked: readonly (readonly [isGood: boolean, key: keyof Target, what: string])[] = [
    [groupVersion.test(apiVersion), 'apiVersion', 'a version such as v1 or apps/v1'],
    [kindName.test(kind), 'kind', 'the name of a kind'],
    [segment.test(name), 'name', 'a name that an object can have'],
    [namespace === undefined || dnsLabel.test(namespace), 'namespace', 'a name that a Namespace can have'],
  ];
  const wrong = checked.flatMap(([isGood, key, what]): readonly Message[] =>
    isGood ? [] : [['Invalid', `${place[key]} "${printable(target[key] ?? '')}" is not ${what}`]],
  );
  const targetGroup = groupOf(apiVersion);
  if (!refusedGroups.includes(targetGroup)) return wrong;
  return [...wrong, ['Refused', `the kinds of ${targetGroup} control Transactions: they cannot be targets`]];
}

export function printable(text: string): string {
  return text.slice(0, 60).replaceAll(/[^\x20-\x7e]/g, '?');
}
