#!/usr/bin/env bash
# Pushes the image and the chart of `make release`. With SIGN=1, it also signs them and the checksums with cosign, and attests
# the SBOMs. It signs without a key, with the identity of the user or the workflow. It writes the signature of the checksums
# to dist/.
#
#   IMAGE_REPOSITORY=registry/name CHART_REPOSITORY=registry/charts [SIGN=1] [HELM_FLAGS=--plain-http] hack/publish.sh
#
# In a workflow, it sets the outputs image-digest and chart-digest of the step.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ -z "${IMAGE_REPOSITORY:-}" ] || [ -z "${CHART_REPOSITORY:-}" ]; then
  echo 'Say where to: make publish IMAGE_REPOSITORY=registry/cauri CHART_REPOSITORY=registry/charts' >&2
  exit 1
fi
if [ -n "${SIGN:-}" ] && ! command -v cosign >/dev/null; then
  echo 'There is no cosign to sign with: install it, or publish without SIGN=1' >&2
  exit 1
fi

image=$(bin/image publish --image-repository="$IMAGE_REPOSITORY")
printf '%s\n' "$image"
# shellcheck disable=SC2086 # HELM_FLAGS are several
pushed=$(bin/helm push dist/cauri-*.tgz "oci://$CHART_REPOSITORY" ${HELM_FLAGS:-} 2>&1) || { printf '%s\n' "$pushed" >&2; exit 1; }
digest=$(sed -n 's/^Digest: *//p' <<<"$pushed")
[[ $digest == sha256:* ]] || { printf 'helm names no digest of the chart:\n%s\n' "$pushed" >&2; exit 1; }
chart=$CHART_REPOSITORY/cauri@$digest
printf '%s\n' "$chart"

if [ -n "${SIGN:-}" ]; then
  cosign sign --yes --recursive "$image" # the index, and the image of each platform
  cosign sign --yes "$chart"
  cosign attest --yes --type spdxjson --predicate dist/cauri-*-index.spdx.json "$image"
  cosign sign-blob --yes --bundle dist/SHA256SUMS.sigstore.json dist/SHA256SUMS
fi
if [ -n "${GITHUB_OUTPUT:-}" ]; then
  printf 'image-digest=%s\nchart-digest=%s\n' "${image##*@}" "$digest" >>"$GITHUB_OUTPUT"
fi
