# A server of quern, and its command:
#
#   docker build -t quern .
#   docker run -v quern:/data -v ~/projects:/srv:ro quern index /srv/shop
#   docker run -v quern:/data -p 3000:3000 quern
#
# docs/questions.md has more. The data directory must be on a local disk.

FROM node:24.21.0-bookworm-slim AS build
WORKDIR /quern
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY tsconfig.json tsup.config.ts ./
COPY scripts scripts
COPY src src
RUN npm run build

FROM node:24.21.0-bookworm-slim AS dependencies
WORKDIR /quern
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --no-audit --no-fund

FROM node:24.21.0-bookworm-slim AS server
# git lists and fetches repositories; those that are mounted belong to other users
RUN apt-get update \
  && apt-get install --yes --no-install-recommends ca-certificates git \
  && rm -rf /var/lib/apt/lists/* \
  && git config --system --add safe.directory '*' \
  && mkdir /data \
  && chown node:node /data
WORKDIR /quern
COPY --from=dependencies /quern/node_modules node_modules
COPY package.json LICENSE README.md ./
COPY --from=build /quern/dist dist
ENV NODE_ENV=production QUERN_DB=/data
USER node
WORKDIR /data
VOLUME /data
EXPOSE 3000
HEALTHCHECK CMD ["node", "-e", "fetch('http://127.0.0.1:3000/api/health').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "/quern/dist/cli.js"]
CMD ["serve", "--host", "0.0.0.0", "--port", "3000"]
