# The image: the compiled program, the packages it needs to run and nothing else; no compiler, no optional packages.
#   docker build -t tokenweir:0.1.0 .          (podman or buildah: add --format docker, or the health check is dropped)
#   docker run --read-only -p 9930:9930 -p 127.0.0.1:9939:9939 tokenweir:0.1.0 serve --upstream http://HOST:8080
# A configuration file goes to /app/proxy.yaml, or wherever TOKENWEIR_CONFIG says.
ARG NODE_IMAGE=node:24-bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=optional --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY scripts/build.mjs scripts/
COPY src src
RUN npm run build

FROM ${NODE_IMAGE} AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --omit=optional --no-audit --no-fund

FROM ${NODE_IMAGE}
# In a container, loopback would reach nobody. Off loopback the admin port shows findings, sessions and configuration
# only with TOKENWEIR_ADMIN_TOKEN; metrics and health are open.
ENV NODE_ENV=production \
    TOKENWEIR_LISTEN=0.0.0.0:9930 \
    TOKENWEIR_ADMIN_LISTEN=0.0.0.0:9939
WORKDIR /app
COPY package.json LICENSE ./
COPY config config
COPY --from=dependencies /app/node_modules node_modules
COPY --from=build /app/dist dist
# By number, so that Kubernetes can see that it is not root. Nothing is written anywhere.
USER 1000:1000
EXPOSE 9930 9939
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.TOKENWEIR_ADMIN_LISTEN.split(':').pop() + '/healthz').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "dist/cli.js"]
CMD ["serve"]
