// `npm run packages -- resolve FILE`: resolves the whole tree of the package snapshot in FILE (YAML or JSON; `-`: standard input),
// like an install. It reads registries and, with --kubeconfig, a cluster. It writes only its cache.
//
//   --lock FILE           a Lock with the installed packages; without it, no package counts as installed
//   --crds FOLDER         YAML files with the live objects
//   --kubeconfig FILE     a cluster with the live objects, and with the Lock unless --lock is given
//   --namespace NAME      the namespace with the Secrets of spec.packagePullSecrets and of ImageConfigs, with --kubeconfig; crossplane-system
//   --pull-secret FILE    a .dockerconfigjson; may be repeated
//   --crossplane VERSION  the version of Crossplane; without it, no package's spec.crossplane.version is checked
//   --authority, --trusted-root KIND/NAME/KEY  as JANUS_PACKAGES_AUTHORITY and JANUS_PACKAGES_TRUSTED_ROOT, with --kubeconfig
//   --cache FOLDER        the folder that keeps content by digest
//   --json                output for programs
//
// `npm run packages -- leave --kubeconfig FILE`: no Package makes package transactions of its own any more. Removes the controller and
// the policy for them, and the finalizer and the annotation of each Package. Packages, and all that is installed, stay.
//
// Exit codes: 0 it can be installed, or it has left; 1 it is refused, or a Package is being deleted; 2 a registry or the cluster does not answer; 64 the arguments are wrong.
import { runPackages } from './packages/run.ts';

process.exitCode = await runPackages(process.argv.slice(2), {
  out: (text) => process.stdout.write(text),
  error: (text) => process.stderr.write(text),
});
