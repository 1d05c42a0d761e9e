// The platforms of the self-contained program, as krew and Go name them.
export const platforms = ['linux_amd64', 'linux_arm64', 'darwin_amd64', 'darwin_arm64'] as const;
export type Platform = (typeof platforms)[number];

export const nameOfArchive = (platform: Platform): string => `kubectl-janus_${platform}.tar.gz`;
