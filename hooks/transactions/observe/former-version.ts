// An object in a version that only an earlier change of this Transaction makes the API server serve, or can convert. In a version that is
// not served yet, it may exist: then it is read in a version that is served now. Without a webhook the API server converts an object by
// writing another apiVersion into it, so the engine does the same. Source: apiextensions-apiserver pkg/apiserver/conversion/nop_converter.go.

import type { Reader, Resource } from '../../objects/cluster.ts';
import { servedVersions } from '../../objects/definitions.ts';
import type { Failure } from '../../objects/failure.ts';
import { at, type JsonObject, textAt, withKey } from '../../objects/json.ts';
import { losesInMove } from '../../objects/pruning.ts';
import { describe, versionOf } from '../../objects/reference.ts';
import { type Fault, fault } from '../checks/fault.ts';
import type { Resolved } from '../checks/targets.ts';
import { mayMake } from '../model/change.ts';
import { isCrd } from '../model/crds.ts';
import type { Transaction } from '../model/transaction.ts';
import { locationOf } from '../writes/change.ts';
import { serviceAccountOf } from '../writes/resources.ts';
import type { Prepared, Presence } from './observation.ts';
import { read } from './read.ts';

/** The reads of the targets of one Transaction. */
export interface TargetReads {
  readonly reader: Reader;
  readonly transaction: Transaction;
  readonly all: readonly Resolved[];
  /** The target of a change, as it was read first. */
  readonly firstRead: (resolved: Resolved) => Promise<Presence>;
}

/** A CRD that exists, which an earlier change gives the version of a target. */
interface Growing {
  readonly change: Resolved;
  readonly definition: JsonObject;
}

/** The target of a change as it is now, in the version of the change. */
export async function readTarget(context: TargetReads, resolved: Resolved): Promise<Presence> {
  const { reader, transaction } = context;
  const { target } = resolved;
  const resource = await servedNow(context, resolved);
  const found = await read(reader, locationOf(target, resource), serviceAccountOf(transaction));
  if (found.kind !== 'present' || resource === resolved.resource) return found;
  return { ...found, object: withKey(found.object, 'apiVersion', target.apiVersion) };
}

/** How the API server serves the kind of a target now. */
export async function servedNow(context: TargetReads, resolved: Resolved): Promise<Resource> {
  const growing = await growingOf(context, resolved);
  const [version] = growing === undefined ? [] : servedVersions(growing.definition);
  return version === undefined ? resolved.resource : { ...resolved.resource, version };
}

async function growingOf({ all, firstRead }: TargetReads, { dependsOn }: Resolved): Promise<Growing | undefined> {
  const change = all.find(({ index }) => index === dependsOn);
  if (change === undefined || !isCrd(change) || change.change.type === 'Create') return undefined;
  const found = await firstRead(change);
  return found.kind === 'present' ? { change, definition: found.object } : undefined;
}

/** Why the change cannot be planned in its version: the object cannot be read, or not be compared with what the change makes of it. */
export async function versionFault(context: TargetReads, resolved: Resolved, found: Presence): Promise<Fault | undefined> {
  const growing = await growingOf(context, resolved);
  if (growing === undefined) return undefined;
  const { index, target, change } = resolved;
  const isUnread = servedVersions(growing.definition).length === 0 && !mayMake(change.type);
  const isConverted = found.kind === 'present' && [growing.definition, growing.change.change.content].some(hasConversion);
  if (!isUnread && !isConverted) return undefined;
  const by = growing.change.index;
  const how = isConverted ? ', and a webhook converts it' : '';
  const next = isConverted
    ? `name a version in target.apiVersion that is served now, or change the CRD in a Transaction before this one`
    : 'name a version in target.apiVersion that is served now';
  const message = `spec.changes[${index}]: ${describe(target)} cannot be read before spec.changes[${by}] makes the API server serve ${versionOf(target.apiVersion)}${how}: ${next}`;
  return fault('UnknownKind', message, index);
}

/** Why an object cannot be read, if an earlier change alters the CRD whose conversion fails. */
export function conversionFault({ all }: TargetReads, resolved: Resolved, failure: Failure): Fault | undefined {
  const { index, target, resource } = resolved;
  const name = `${resource.plural}.${resource.group}`;
  const earlier = all.find((one) => one.index < index && isCrd(one) && one.change.type !== 'Create' && one.target.name === name);
  if (earlier === undefined || failure.origin !== 'call') return undefined;
  const message = `spec.changes[${index}]: ${describe(target)} cannot be read in ${versionOf(target.apiVersion)} before spec.changes[${earlier.index}] changes its CRD, because the API server cannot convert it: change the CRD in a Transaction before this one`;
  return fault('UnknownKind', message, index);
}

function hasConversion(definition: Resolved['change']['content']): boolean {
  return textAt(at(definition, 'spec', 'conversion'), 'strategy') === 'Webhook';
}

/** Why a change that moves its object to another version cannot be undone: that version lacks some of its fields. */
export async function lostByMove(context: TargetReads, { resolved, prior }: Prepared): Promise<string | undefined> {
  const growing = prior === undefined ? undefined : await growingOf(context, resolved);
  if (prior === undefined || growing === undefined) return undefined;
  const [former = ''] = servedVersions(growing.definition);
  const next = versionOf(resolved.target.apiVersion);
  const schemas = { before: growing.definition, after: growing.change.change.content ?? null };
  if (!losesInMove(prior, schemas, { former, next })) return undefined;
  return `it holds values that version ${former} has fields for, and version ${next} has not`;
}
