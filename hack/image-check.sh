#!/usr/bin/env bash
# Builds the image with ko and with the Dockerfile, and compares the two: files, modes, owners, the program's bytes, and how
# they run. It needs neither Docker nor a registry. buildah builds the Dockerfile. This script builds the base image from a
# shell and this machine's Go.
set -euo pipefail
cd "$(dirname "$0")/.."

fail() { printf 'error: %s\n' "$1" >&2; exit 1; }

if [ "$(uname -s)" != Linux ] || [ "$(id -u)" != 0 ]; then
  fail "buildah runs here as root on Linux only. With Docker: \`docker build -t cauri .\`, \`docker save\`, and \`bin/image compare\` with bin/images/cauri.tar."
fi
if ! command -v buildah >/dev/null || [ ! -x /bin/busybox ]; then
  hack/install.sh 'they build the Dockerfile without Docker' buildah busybox-static
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/tmp"
export STORAGE_DRIVER=vfs BUILDAH_ISOLATION=chroot
buildah() { command buildah --root "$work/storage" --runroot "$work/run" "$@"; }

go_image=cauri.local/go:check
container=$(buildah from scratch)
for program in sh mkdir chmod; do # busybox selects the command by its own file name
  buildah copy --quiet "$container" /bin/busybox "/bin/$program" >/dev/null
done
buildah config --env PATH=/usr/local/go/bin:/bin --env GOPATH=/go --env GOCACHE=/gocache --env GOTOOLCHAIN=local --env HOME=/ "$container"
buildah commit --quiet "$container" "$go_image" >/dev/null

revision=$(git rev-parse HEAD)
[ -z "$(git status --porcelain)" ] || revision+=-modified
created=$(TZ=UTC git log -1 --date=format-local:%Y-%m-%dT%H:%M:%SZ --format=%cd)

echo "Building the Dockerfile"
buildah build --quiet --pull-never --identity-label=false --platform "linux/$(go env GOARCH)" \
  --build-arg "GO_IMAGE=$go_image" --build-arg VERSION=check --build-arg "REVISION=$revision" --build-arg "CREATED=$created" \
  --volume "$(go env GOROOT):/usr/local/go:ro" --volume "$(go env GOMODCACHE):/go/pkg/mod" --volume "$(go env GOCACHE):/gocache" \
  --volume /etc/ssl:/etc/ssl:ro --volume "$work/tmp:/tmp" --tag cauri.local/cauri:check . >/dev/null
buildah push --quiet cauri.local/cauri:check "docker-archive:$work/dockerfile.tar:cauri.local/cauri:check" >/dev/null

echo "Building by ko"
bin/image build --version check --out "$work/ko.tar"
bin/image compare "$work/ko.tar" "$work/dockerfile.tar"
