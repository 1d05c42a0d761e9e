// The three components and their flags. Relative paths are within the control plane's directory, their working directory;
// each names that directory once in full, so that a list of processes shows whose they are.

export const components = ['etcd', 'kube-apiserver', 'kube-controller-manager'] as const;
export type Component = (typeof components)[number];

/** The path of each program. */
export type Binaries = Readonly<Record<Component, string>>;

/** Sockets in the private directory in place of ports: no port can collide, and no other user can read etcd. */
const etcdSocket = 'unix://etcd.sock:0';
const peerSocket = 'unix://etcd-peer.sock:0';

export const certificateDirectory = 'certificates';

export interface Settings {
  readonly directory: string;
  readonly port: number;
  /** Name of the audit policy file; without one nothing is audited. */
  readonly auditPolicy?: string;
  readonly auditLog?: string;
  readonly apiServerFlags: readonly string[];
  readonly serviceAccountAdmission: boolean;
  readonly allControllers: boolean;
}

export function flagsOf(component: Component, settings: Settings): readonly string[] {
  if (component === 'etcd') return [`--data-dir=${settings.directory}/etcd`, ...etcdFlags];
  return component === 'kube-apiserver' ? apiServerFlags(settings) : controllerManagerFlags(settings);
}

const etcdFlags: readonly string[] = [
  `--listen-client-urls=${etcdSocket}`,
  `--advertise-client-urls=${etcdSocket}`,
  `--listen-peer-urls=${peerSocket}`,
  `--initial-advertise-peer-urls=${peerSocket}`,
  `--initial-cluster=default=${peerSocket}`,
  '--unsafe-no-fsync',
  '--log-level=error',
];

/** MB. The API server begins a new file at 100 by default; who reads the log follows one file. */
const longestAuditLog = 1_000_000;

function apiServerFlags({
  directory,
  port,
  auditPolicy,
  auditLog,
  apiServerFlags,
  serviceAccountAdmission,
}: Settings): readonly string[] {
  const audit =
    auditPolicy === undefined
      ? []
      : [`--audit-policy-file=${auditPolicy}`, `--audit-log-path=${auditLog}`, `--audit-log-maxsize=${longestAuditLog}`];
  return [
    `--etcd-servers=${etcdSocket}`,
    `--secure-port=${port}`,
    '--bind-address=127.0.0.1',
    // Else a machine without a network has no address to advertise, and the API server would not start.
    '--advertise-address=127.0.0.1',
    `--cert-dir=${directory}/${certificateDirectory}`,
    '--service-account-issuer=https://kubernetes.default.svc',
    '--service-account-key-file=service-account.pub',
    '--service-account-signing-key-file=service-account.key',
    '--authorization-mode=RBAC',
    '--token-auth-file=tokens.csv',
    // Wide, since an address of a deleted Service is for anybody: with few, another test gets it before an undo wants it back.
    '--service-cluster-ip-range=10.0.0.0/16',
    // It refuses Pods until a controller has made the ServiceAccount of a new namespace.
    ...(serviceAccountAdmission ? [] : ['--disable-admission-plugins=ServiceAccount']),
    '--endpoint-reconciler-type=none',
    '--allow-privileged',
    '--max-requests-inflight=4000',
    '--max-mutating-requests-inflight=2000',
    ...audit,
    ...apiServerFlags,
  ];
}

// There are no nodes or volumes to control, and no metrics to scale by: after some seconds an autoscaler would only raise replicas to its
// minimum, in the middle of what a test compares. Routes and load balancers are left out of it: without a cloud provider no version runs their
// controllers, and 1.37 does not know their names.
const idleControllers = [
  'node-ipam-controller',
  'node-lifecycle-controller',
  'persistentvolume-attach-detach-controller',
  'persistentvolume-binder-controller',
  'horizontal-pod-autoscaler-controller',
];

// What these controllers need: ranges for the Pods of nodes, and an authority to publish.
function controllersFlags({ directory, allControllers }: Settings): readonly string[] {
  if (!allControllers) return [`--controllers=*,${idleControllers.map((name) => `-${name}`).join(',')}`];
  const authority = `--root-ca-file=${directory}/${certificateDirectory}/apiserver.crt`;
  return ['--controllers=*', '--allocate-node-cidrs', '--cluster-cidr=10.244.0.0/16', authority];
}

function controllerManagerFlags(settings: Settings): readonly string[] {
  return [
    `--kubeconfig=${settings.directory}/controller-manager.kubeconfig`,
    '--authentication-kubeconfig=controller-manager.kubeconfig',
    '--authorization-kubeconfig=controller-manager.kubeconfig',
    '--service-account-private-key-file=service-account.key',
    '--use-service-account-credentials=false',
    '--leader-elect=false',
    '--secure-port=0',
    ...controllersFlags(settings),
  ];
}
