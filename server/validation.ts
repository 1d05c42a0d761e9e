// Validates the body of a request, and decodes it to a Call. The schema is compiled once. Faults name path and rule, never a value.
import { Ajv, type ErrorObject } from 'ajv';
import type { OwnCall, PackageCall, RelatedObjects } from '../hooks/crossplane/call.ts';
import { holderAnnotation } from '../hooks/crossplane/model/holder.ts';
import { kindOf } from '../hooks/crossplane/model/package.ts';
import { at, isDeeperThan, isObject, type Json, type JsonObject, mostLevels, objectAt, textAt } from '../hooks/objects/json.ts';
import type { Call } from '../hooks/transactions/call.ts';
import {
  ownCustomizeRequest,
  ownRequest,
  packageCustomizeRequest,
  packageStatusRequest,
} from '../schemas/packages/status-request.ts';
import { packageSyncRequest } from '../schemas/packages/sync-request.ts';
import { dialect } from '../schemas/schema.ts';
import { syncRequest } from '../schemas/sync-request.ts';

/** The path in the body and the broken rule: `/parent/metadata` misses `uid`. */
interface Fault {
  readonly path: string;
  readonly rule: string;
}

export type Validated<Valid> =
  | { readonly kind: 'ok'; readonly call: Valid }
  | { readonly kind: 'faults'; readonly faults: readonly Fault[] };

const conforms = new Ajv({ ...dialect, allErrors: true }).compile(syncRequest);
const isPackageRequest = new Ajv({ ...dialect, allErrors: true }).compile(packageSyncRequest);
const isStatusRequest = new Ajv({ ...dialect, allErrors: true }).compile(packageStatusRequest);
const isPackageCustomize = new Ajv({ ...dialect, allErrors: true }).compile(packageCustomizeRequest);
const isOwnRequest = new Ajv({ ...dialect, allErrors: true }).compile(ownRequest);
const isOwnCustomize = new Ajv({ ...dialect, allErrors: true }).compile(ownCustomizeRequest);
const mostFaults = 10;

export function validateSyncRequest(body: Json | undefined): Validated<Call> {
  if (conforms(body)) {
    const deep = depthFaults(body as Json);
    return deep.length > 0 ? { kind: 'faults', faults: deep } : { kind: 'ok', call: callOf(body as Json) };
  }
  return { kind: 'faults', faults: (conforms.errors ?? []).slice(0, mostFaults).map(faultOf) };
}

type PackageCallParts = Pick<PackageCall, 'name' | 'uid' | 'status' | 'related'>;

export function validatePackageRequest(body: Json | undefined): Validated<PackageCallParts> {
  if (!isPackageRequest(body))
    return { kind: 'faults', faults: (isPackageRequest.errors ?? []).slice(0, mostFaults).map(faultOf) };
  const deep = depthFaults(body as Json);
  if (deep.length > 0) return { kind: 'faults', faults: deep };
  const { name, uid, status } = callOf(body as Json);
  return { kind: 'ok', call: { name, uid, status, related: relatedOf(at(body, 'related')) } };
}

function relatedOf(related: Json | undefined): RelatedObjects {
  const [locks, stages] = ['Lock.pkg.crossplane.io/v1beta1', 'Transaction.tx.janus.io/v1alpha1'].map((kind) =>
    Object.values(objectAt(related, kind)),
  );
  return {
    holder: textAt(locks?.[0], 'metadata', 'annotations', holderAnnotation),
    stages: new Map((stages ?? []).map((one) => [textAt(one, 'metadata', 'name') ?? '', textAt(one, 'status', 'phase') ?? ''])),
  };
}

/** A Package, and its revisions. */
interface PackageWithRevisions {
  readonly pkg: JsonObject;
  readonly revisions: readonly JsonObject[];
}

export function validateStatusRequest(body: Json | undefined): Validated<PackageWithRevisions> {
  return validatePackage(isStatusRequest, body, 'object');
}

export function validatePackageCustomize(body: Json | undefined): Validated<PackageWithRevisions> {
  return validatePackage(isPackageCustomize, body, 'parent');
}

export function validateOwnCustomize(body: Json | undefined): Validated<PackageWithRevisions> {
  return validatePackage(isOwnCustomize, body, 'parent');
}

/** The hook reads everything else of the Package itself. */
export function validateOwnRequest(body: Json | undefined): Validated<Omit<OwnCall, 'isFinalizing'>> {
  const kind = kindOf(textAt(body, 'object', 'kind'));
  if (!isOwnRequest(body) || kind === undefined)
    return { kind: 'faults', faults: (isOwnRequest.errors ?? []).slice(0, mostFaults).map(faultOf) };
  const [name = '', uid = ''] = ['name', 'uid'].map((key) => textAt(body as Json, 'object', 'metadata', key));
  return { kind: 'ok', call: { kind, name, uid } };
}

function validatePackage(
  conforms: typeof isStatusRequest,
  body: Json | undefined,
  member: 'object' | 'parent',
): Validated<PackageWithRevisions> {
  if (!conforms(body)) return { kind: 'faults', faults: (conforms.errors ?? []).slice(0, mostFaults).map(faultOf) };
  const pkg = objectAt(body as Json, member);
  if (isDeeperThan(pkg, mostLevels)) return { kind: 'faults', faults: [{ path: `/${member}`, rule: 'depth' }] };
  return { kind: 'ok', call: { pkg, revisions: childrenOf(at(body as Json, 'related')) } };
}

// The hook serializes replies by recursion. No valid status or object is that deep.
function depthFaults(body: Json): readonly Fault[] {
  const echoed = [
    ['/parent/status', at(body, 'parent', 'status')],
    ['/children', at(body, 'children')],
  ] as const;
  return echoed.filter(([, value]) => isDeeperThan(value, mostLevels)).map(([path]) => ({ path, rule: 'depth' }));
}

function faultOf(error: ErrorObject): Fault {
  const missing = error.keyword === 'required' ? ` ${String(error.params.missingProperty)}` : '';
  return { path: error.instancePath === '' ? '/' : error.instancePath, rule: error.keyword + missing };
}

function callOf(body: Json): Call {
  const parent = at(body, 'parent');
  const status = at(parent, 'status');
  return {
    namespace: textAt(parent, 'metadata', 'namespace') ?? '',
    name: textAt(parent, 'metadata', 'name') ?? '',
    uid: textAt(parent, 'metadata', 'uid') ?? '',
    status: isObject(status) ? status : {},
    children: childrenOf(at(body, 'children')),
  };
}

// `{"ConfigMap.v1": {"name": object}}`: Metacontroller groups the observed children by kind.
function childrenOf(byKind: Json | undefined): readonly JsonObject[] {
  return valuesOf(byKind).flatMap((byName) => valuesOf(byName).filter(isObject));
}

function valuesOf(value: Json | undefined): readonly Json[] {
  return isObject(value) ? Object.values(value) : [];
}
