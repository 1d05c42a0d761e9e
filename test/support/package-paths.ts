// Paths of the objects of package transactions.
export const imageConfigPath = '/apis/pkg.crossplane.io/v1beta1/imageconfigs';

export const kinds = ['provider', 'configuration', 'function'].flatMap((kind) => [`${kind}s`, `${kind}revisions`]);

const root = '/apis/pkg.crossplane.io';
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
export const ptxPath = (name = ''): string => `${root}/v1alpha1/transactions${name === '' ? '' : `/${name}`}`;
export const lockPath = `${root}/v1beta1/locks/lock`;
export const packagePath = (plural: string, name = ''): string => `${root}/v1/${plural}${name === '' ? '' : `/${name}`}`;
export const definitionPath = (name = ''): string => `${definitions}${name === '' ? '' : `/${name}`}`;
export const stagesPath = '/apis/tx.janus.io/v1alpha1/namespaces/janus-packages/transactions';
