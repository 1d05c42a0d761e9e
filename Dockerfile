# The hook. Sources run as they are (Node strips the types), so nothing is compiled: the first stage fetches the dependencies
# that run, the second takes out of Node's image what only installs and builds, the third holds what is left and the sources.
# The base is pinned by version: its digest could not be looked up where this was written. CI builds it and runs it on kind.
FROM node:24.21.0-alpine AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund && npm cache clean --force

FROM node:24.21.0-alpine AS runtime
RUN rm -rf /usr/local/lib/node_modules /usr/local/include /usr/local/share /opt/yarn-* \
  /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack /usr/local/bin/yarn /usr/local/bin/yarnpkg

# One layer, in which what was taken out is not hidden but gone.
FROM scratch
COPY --from=runtime / /
ENV PATH=/usr/local/bin:/usr/bin:/bin NODE_ENV=production
WORKDIR /app
COPY --from=dependencies /app/node_modules node_modules
COPY package.json LICENSE ./
COPY schemas schemas
COPY hooks hooks
COPY server server
# By number, so that runAsNonRoot can be checked: it is the user `node` of the image.
USER 1000:1000
EXPOSE 8080
CMD ["node", "server/main.ts"]
