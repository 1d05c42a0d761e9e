// The package transactions that a Package makes by itself, with names that follow from its generation. Any number of processes may
// send such a create: only one of them takes effect.
import type { Precondition, Write } from '../../objects/cluster.ts';
import { type JsonObject, objectAt, textAt } from '../../objects/json.ts';
import { packageLabel } from '../model/names.ts';
import { ownName, packageUidLabel } from '../model/own.ts';
import { type PackageKind, packageApiVersion } from '../model/package.ts';
import { allowIrreversible } from '../model/package-transaction.ts';
import { accountIn, packageTransactions, preconditionOf, writeOf } from './resources.ts';

/** The Package, and the namespace of the ServiceAccount that writes. */
interface OwnMaker {
  readonly kind: PackageKind;
  readonly pkg: JsonObject;
  readonly namespace: string;
}

/** Installs the present generation of the Package. `activated`: the uid of the revision that a user has made Active. */
export function ownInstall(maker: OwnMaker, activated?: string): Write {
  const { kind, pkg } = maker;
  const metadata = { name: textAt(pkg, 'metadata', 'name') ?? '', uid: textAt(pkg, 'metadata', 'uid') ?? '' };
  const snapshot = { apiVersion: packageApiVersion, kind, metadata, spec: objectAt(pkg, 'spec') };
  return ownWrite(maker, ownName(kind, pkg, activated), { change: 'Install', install: { package: snapshot } });
}

/** A deletion that is refused is tried again, as often as the API server admits: it goes on by itself once nothing refuses it. */
const mostTries = 1_000;

export function ownDelete(maker: OwnMaker, source: string): Write {
  const name = ownName(maker.kind, maker.pkg);
  return ownWrite(maker, name, { change: 'Delete', delete: { source }, retryLimit: mostTries });
}

function ownWrite({ pkg, namespace }: OwnMaker, name: string, spec: JsonObject): Write {
  const labels = {
    [packageUidLabel]: textAt(pkg, 'metadata', 'uid') ?? '',
    [packageLabel]: textAt(pkg, 'metadata', 'name') ?? '',
  };
  const allowed = textAt(pkg, 'metadata', 'annotations', allowIrreversible);
  const annotations = allowed === undefined ? {} : { annotations: { [allowIrreversible]: allowed } };
  const object = {
    apiVersion: 'pkg.crossplane.io/v1alpha1',
    kind: 'Transaction',
    metadata: { name, labels, ...annotations },
    spec,
  };
  return writeOf({ resource: packageTransactions, name }, object, namespace);
}

/** A package transaction that is deleted while it runs is rolled back. */
export function endWrite(ptx: JsonObject, namespace: string): Write {
  const precondition: Precondition = preconditionOf(ptx);
  const location = { resource: packageTransactions, name: textAt(ptx, 'metadata', 'name') ?? '' };
  return { verb: 'delete', identity: accountIn(namespace), location, precondition };
}
