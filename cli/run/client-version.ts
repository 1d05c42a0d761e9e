import manifest from '../../package.json' with { type: 'json' };

/** The version of the sources. The engine of a release has it, too. */
export const clientVersion: string = manifest.version;
