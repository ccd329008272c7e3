# One image for every part: the argument says which (controller, api, worker, migrate).
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.version=${VERSION}" -o /cauri ./cmd/cauri

FROM scratch
# Webhooks may go to https receivers.
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /cauri /cauri
USER 65532:65532
ENTRYPOINT ["/cauri"]
