import manifest from '../../package.json' with { type: 'json' };

/** That of the sources, which the engine has, too. */
export const clientVersion: string = manifest.version;
