#!/usr/bin/env bash
# Runs the tests of `make e2e` on a kind cluster, for machines with Docker. `make kind` first builds bin/kind, bin/helm,
# bin/cluster.test and the images in bin/images.
#
#   KEEP=1    keeps the cluster, and prints the command that deletes it
#   NODE=...  the image of the node, for another version of Kubernetes than kind's default
#
# Arguments go to the tests, for example -test.run=Upgrade.
set -euo pipefail
cd "$(dirname "$0")/.."

fail() { printf 'error: %s\n' "$1" >&2; exit 1; }
say() { printf '== %s\n' "$1"; }

command -v docker >/dev/null ||
  fail "there is no docker here, which kind needs. On Linux, as root, \`make e2e\` runs the same tests without it."
docker info >/dev/null 2>&1 ||
  fail "Docker does not answer (\`docker info\` says why): start it, or on Linux, as root, run \`make e2e\`, which does without."
for needed in bin/kind bin/helm bin/cauri bin/cluster.test bin/images/cauri.tar bin/images/merchant.tar; do
  [ -e "$needed" ] || fail "$needed is missing: run \`make kind\`, which builds it."
done

cluster=cauri-e2e-$$
work=$(mktemp -d)
running= # pid of the running tests; empty for none
ended=

# finish removes everything at every end of the script.
# shellcheck disable=SC2317 # the trap calls it
finish() {
  local status=$?
  [ -z "$ended" ] || return
  ended=yes
  trap '' INT TERM
  if [ -n "$running" ]; then
    kill -TERM "$running" 2>/dev/null || true
    wait "$running" 2>/dev/null || true
  fi
  if [ "$status" != 0 ] && [ -e "$work/created" ]; then
    bin/kind export logs bin/kind-logs --name "$cluster" >/dev/null 2>&1 && say "The cluster's logs are in bin/kind-logs"
  fi
  if [ -n "${KEEP:-}" ] && [ -e "$work/created" ]; then
    bin/kind export kubeconfig --name "$cluster" --kubeconfig bin/kind.kubeconfig >/dev/null 2>&1 || true
    say "The cluster stays: KUBECONFIG=$PWD/bin/kind.kubeconfig. Delete it with: bin/kind delete cluster --name $cluster"
  else
    bin/kind delete cluster --name "$cluster" || printf 'error: the cluster %s could not be deleted\n' "$cluster" >&2
  fi
  rm -rf "$work"
  exit "$status"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

say "Making the cluster $cluster"
export KUBECONFIG=$work/kubeconfig
bin/kind create cluster --name "$cluster" --kubeconfig "$KUBECONFIG" --wait 180s ${NODE:+--image "$NODE"}
touch "$work/created"

if ! [ -e bin/images/postgres.tar ]; then # built from Debian packages; other systems use the official image
  say "Fetching the database's image"
  docker pull --quiet postgres:15
  docker tag postgres:15 cauri.local/postgres:15
  docker save --output "$work/postgres.tar" cauri.local/postgres:15
  bin/kind load image-archive "$work/postgres.tar" --name "$cluster"
fi
for archive in bin/images/*.tar; do
  case ${archive##*/} in
    pause.tar | coredns.tar) continue ;; # kind's node image includes these
  esac
  say "Loading $archive"
  bin/kind load image-archive "$archive" --name "$cluster"
done

say "Running the tests"
# The tests run in the background, so that a signal ends the script at once.
CAURI_E2E=kind PATH="$PWD/bin:${KUBECTL_FOLDER:+$KUBECTL_FOLDER:}$PATH" bin/cluster.test -test.v -test.timeout=20m "$@" &
running=$!
status=0
wait "$running" || status=$?
running=
exit "$status"
