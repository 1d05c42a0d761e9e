# The hook. Sources run as they are (Node strips the types): the first stage fetches the dependencies that run, the second takes
# out of Node's image what only installs and builds, the third holds what is left and the sources.
# The base is pinned by version only, as its digest could not be looked up where this was written. Before a release write it behind the tag in
# each FROM line: `docker buildx imagetools inspect node:24.21.0-alpine` prints it. The release refuses without (scripts/release/base.ts).
FROM node:24.21.0-alpine AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund && npm cache clean --force
# Only a kubeconfig needs client-node, and a Pod has none: 54 of 133 packages, 73 of 118 MB.
RUN npm uninstall --offline --omit=dev --ignore-scripts --no-audit --no-fund @kubernetes/client-node

FROM node:24.21.0-alpine AS runtime
RUN rm -rf /usr/local/lib/node_modules /usr/local/include /usr/local/share /opt/yarn-* \
  /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack /usr/local/bin/yarn /usr/local/bin/yarnpkg

# The command line, by `docker build --target cli`; the hook's image, which is the last one, has nothing of it.
FROM node:24.21.0-alpine AS packed
WORKDIR /app
COPY package.json package-lock.json .npmrc LICENSE ./
RUN npm ci --ignore-scripts --no-audit --no-fund && npm cache clean --force
COPY schemas schemas
COPY hooks hooks
COPY server server
COPY cli cli
COPY scripts/pack-cli.ts scripts/pack-cli.ts
COPY scripts/pack-cli scripts/pack-cli
COPY docs/cli.md docs/cli.md
RUN node scripts/pack-cli.ts /packed && tar -xzf /packed/*.tgz -C /

FROM node:24.21.0-alpine AS cli
COPY --from=packed /package /package
USER 1000:1000
ENTRYPOINT ["node", "/package/bin/janus.js"]

# One layer, in which what was taken out is not hidden but gone.
FROM scratch
COPY --from=runtime / /
ARG VERSION=0.1.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Janus on Metacontroller" \
  org.opencontainers.image.description="Multi-object transactions for Kubernetes" \
  org.opencontainers.image.source="https://github.com/janus-io/janus-on-metacontroller" \
  org.opencontainers.image.documentation="https://github.com/janus-io/janus-on-metacontroller#readme" \
  org.opencontainers.image.licenses="Apache-2.0" \
  org.opencontainers.image.version="${VERSION}" \
  org.opencontainers.image.revision="${REVISION}"
ENV PATH=/usr/local/bin:/usr/bin:/bin NODE_ENV=production
WORKDIR /app
COPY --from=dependencies /app/node_modules node_modules
COPY package.json LICENSE ./
COPY schemas schemas
COPY hooks hooks
COPY server server
# Types are stripped and code is compiled here, once: a start takes 0.7 s in place of 1.3 s, and half the CPU. Node keeps what it
# compiled in a folder named by its version, the flags of V8, the features of the CPU and the uid: so the user that runs compiles, with the
# flags of CMD, and on a CPU with other features every start compiles again. Without configuration the program ends after it was loaded, and
# so do its threads.
ENV NODE_COMPILE_CACHE=/app/.compiled
RUN mkdir .compiled && chown 1000:1000 .compiled
# By number, so that runAsNonRoot can be checked: it is the user `node` of the image.
USER 1000:1000
RUN flags="--max-semi-space-size=4 --max-old-space-size=320 --v8-pool-size=1"; node $flags server/main.ts 2>/dev/null; \
  node $flags server/expressions/worker.ts && node $flags server/yaml-worker.ts && ls -d .compiled/*-1000
EXPOSE 8080
# The memory is bound to what the Deployment allows; a small space for new objects keeps it low, as nearly all live for one call.
CMD ["node", "--max-semi-space-size=4", "--max-old-space-size=320", "--v8-pool-size=1", "server/main.ts"]
