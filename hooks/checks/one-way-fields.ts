// Fields that the API server lets nobody set back. Made by `npm run one-way`; docs/one-way.md says what that could not decide.

export interface OneWayField {
  /** Names of fields; `[]` stands for the items of a list. */
  readonly path: string;
  /** What cannot be taken back: that it is set, gets an item more, is changed or removed. */
  readonly change: 'set' | 'added' | 'changed' | 'removed';
}

/** The version of the API server that was tried. */
export const triedOn = 'v1.36.3';

/** By group and kind. */
export const oneWayFields: Readonly<Record<string, readonly OneWayField[]>> = {
  '/ConfigMap': [{ path: 'immutable', change: 'set' }],
  '/Node': [
    { path: 'spec.podCIDR', change: 'set' },
    { path: 'spec.podCIDRs', change: 'added' },
    { path: 'spec.providerID', change: 'set' },
  ],
  '/PersistentVolume': [
    { path: 'spec.nodeAffinity.required', change: 'set' },
    { path: 'spec.nodeAffinity.required.nodeSelectorTerms', change: 'added' },
  ],
  '/PersistentVolumeClaim': [
    { path: 'spec.storageClassName', change: 'set' },
    { path: 'spec.volumeName', change: 'set' },
  ],
  '/Pod': [
    { path: 'spec.activeDeadlineSeconds', change: 'changed' },
    { path: 'spec.activeDeadlineSeconds', change: 'set' },
    { path: 'spec.tolerations', change: 'added' },
    { path: 'spec.tolerations[].key', change: 'changed' },
  ],
  '/Secret': [{ path: 'immutable', change: 'set' }],
};
