// A registry that replays the answers of another registry from memory.

import { isMeta } from '../../hooks/crossplane/model/package.ts';
import type { PackageReference } from '../../hooks/crossplane/model/reference.ts';
import type { Registry } from '../../hooks/crossplane/registry.ts';
import type { JsonObject } from '../../hooks/objects/json.ts';

/** Answers of registries, kept in memory. Of a package it keeps the meta object. */
export class Answers implements Registry {
  readonly #kept = new Map<string, unknown>();
  readonly #metas = new Map<string, JsonObject[]>();

  of(registry: Registry): Registry {
    const keep = <Answer>(key: string, answer: Answer): Answer => {
      this.#kept.set(key, answer);
      return answer;
    };
    return {
      tags: async (source) => keep(source, await registry.tags(source)),
      digest: async (one) => keep(`${one.source} ${one.version}`, await registry.digest(one)),
      read: async (source, digest, take) => {
        const metas: JsonObject[] = [];
        this.#metas.set(digest, metas);
        return registry.read(source, digest, (object) => {
          if (isMeta(object)) metas.push(object);
          take(object);
        });
      },
    };
  }

  tags(source: string): ReturnType<Registry['tags']> {
    return Promise.resolve(this.#kept.get(source)) as ReturnType<Registry['tags']>;
  }

  digest({ source, version }: PackageReference): ReturnType<Registry['digest']> {
    return Promise.resolve(this.#kept.get(`${source} ${version}`)) as ReturnType<Registry['digest']>;
  }

  async read(_source: string, digest: string, take: (object: JsonObject) => void): ReturnType<Registry['read']> {
    for (const meta of this.#metas.get(digest) ?? []) take(meta);
    return { kind: 'ok' };
  }
}
