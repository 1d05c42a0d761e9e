# The hook. Sources run as they are (Node strips the types), so nothing is compiled: the first stage fetches the
# dependencies that run, the second holds them and the sources.
FROM node:24.21.0-alpine AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund && npm cache clean --force

FROM node:24.21.0-alpine
ENV NODE_ENV=production
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
