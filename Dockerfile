# The image for who has Docker and not ko: `make image-check` says that it holds what the image of `make images` does.
#
#   docker build -t cauri --build-arg VERSION=v1.2.3 --build-arg REVISION=$(git rev-parse HEAD) .
#
# It is one for every part: the argument says which (controller, api, worker, migrate).
ARG GO_IMAGE=golang:1.26.8
FROM --platform=$BUILDPLATFORM ${GO_IMAGE} AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=dev
ARG REVISION=
ARG TARGETOS
ARG TARGETARCH
RUN CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH go build -trimpath -buildvcs=false -tags=grpcnotrace \
      -gcflags=k8s.io/api/...=-l -ldflags="-s -w -X main.version=$VERSION -X main.revision=$REVISION" -o /image/ko-app/cauri ./cmd/cauri
# The folders and modes of ko.
RUN mkdir -p /image/var/run/ko && chmod -R 0555 /image

FROM scratch
COPY --from=build /image/ /
ENV PATH=/ko-app KO_DATA_PATH=/var/run/ko
USER 65532:65532
ENTRYPOINT ["/ko-app/cauri"]
ARG VERSION=dev
ARG REVISION=
ARG CREATED=1970-01-01T00:00:00Z
LABEL org.opencontainers.image.title="Cauri" \
      org.opencontainers.image.description="Mobile-money sandboxes for Kubernetes" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.source="https://github.com/cauri-dev/cauri" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION" \
      org.opencontainers.image.created="$CREATED"
