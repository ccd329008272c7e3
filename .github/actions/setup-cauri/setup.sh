#!/usr/bin/env bash
# Starts a sandbox for the steps that follow. The inputs of the action are the variables INPUT_*. What finish.sh needs is written to
# $RUNNER_TEMP/cauri/state before it exists, so that it is removed however this script ends.
set -euo pipefail

work=$RUNNER_TEMP/cauri
releases=${CAURI_RELEASES:-https://github.com/cauri-dev/cauri/releases/download}

# encoded is a text as the value of a command, so that it stays on one line.
encoded() {
  local text=${1//%/%25}
  text=${text//$'\r'/%0D}
  printf '%s' "${text//$'\n'/%0A}"
}
fail() { printf '::error title=setup-cauri::%s\n' "$(encoded "$1")"; exit 1; }
# quoted runs a command. What it prints may come from others: the runner takes no line of it for a command.
quoted() {
  local end status=0
  end=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
  printf '::stop-commands::%s\n' "$end"
  "$@" || status=$?
  printf '\n::%s::\n' "$end"
  return $status
}
remember() { printf '%s=%q\n' "$1" "$2" >>"$work/state"; }
# take writes what `cauri dev` wrote for shells to $work/env, without quotes.
take() {
  # shellcheck source=/dev/null
  [ ! -e "$work/quoted" ] || (
    . "$work/quoted"
    sed 's/=.*//' "$work/quoted" | while read -r name; do
      printf '%s=%s\n' "$name" "${!name}"
    done >"$work/env"
  )
}
# mask hides in the logs what $work/env has, but for the URLs, and for PINs: a runner would hide every number that has their
# four digits. It decodes %25 in the value of a command.
mask() {
  local line value
  [ ! -e "$work/env" ] || while IFS= read -r line; do
    value=${line#*=}
    [[ ${line%%=*} == *URI ]] || [ ${#value} -lt 8 ] || printf '::add-mask::%s\n' "${value//%/%25}"
  done <"$work/env"
}
# variable is a value of $work/env.
variable() { sed -n "s/^$1=//p" "$work/env"; }
need() { for program; do command -v "$program" >/dev/null || fail "Mode $INPUT_MODE needs $program on the runner."; done; }

# set_release sets release to the release to use, with its v. It is no command substitution, in which fail would end the substitution alone.
set_release() {
  local asked=${INPUT_VERSION:-${ACTION_REF:-}}
  [[ $asked =~ ^v?[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$ ]] || fail "Name a release in the input version, such as v0.1.0 (this is \"$asked\")."
  release=v${asked#v}
}

# attested refuses a file that the release workflow did not make from the tag of the release. Checksums come from where the file does.
attested() { # file, version
  local repository=cauri-dev/cauri
  if ! command -v gh >/dev/null; then
    printf '::warning title=setup-cauri::%s\n' "There is no gh on this runner, so it is not verified who made ${1##*/}: only that it has the checksum \
that its own server names. Install gh 2.49 or newer, or pass a program that you have verified in the input program."
    return
  fi
  GH_HOST=github.com GH_TOKEN=$INPUT_TOKEN gh attestation verify "$1" --repo "$repository" \
    --cert-identity "https://github.com/$repository/.github/workflows/release.yaml@refs/tags/$2" ||
    fail "${1##*/} has no attestation of the release $2 that gh could verify; what it says is above. It needs the input token."
}

# download gets the program of a release into $work, compares it with its checksum, and verifies its attestation.
download() { # version
  local system machine sum=(sha256sum)
  case ${RUNNER_OS:-} in
    Linux) system=linux ;;
    macOS) system=darwin sum=(shasum -a 256) ;;
    *) fail "The program runs on Linux and macOS." ;;
  esac
  case ${RUNNER_ARCH:-} in
    X64) machine=amd64 ;;
    ARM64) machine=arm64 ;;
    *) fail "There is no program for a runner of the architecture ${RUNNER_ARCH:-?}." ;;
  esac
  local name=cauri-$1-$system-$machine file
  for file in "$name.tar.gz" SHA256SUMS; do
    curl -fsSL --retry 3 --output "$work/$file" "$releases/$1/$file" || fail "$releases/$1/$file cannot be downloaded."
  done
  (cd "$work" && grep "  $name.tar.gz\$" SHA256SUMS | "${sum[@]}" --check --status) || fail "$name.tar.gz is not what SHA256SUMS says."
  attested "$work/$name.tar.gz" "$1"
  tar -xzf "$work/$name.tar.gz" -C "$work"
  program=$work/$name/cauri
}

# get_program sets program, and puts it into the PATH of the steps that follow.
get_program() {
  program=$INPUT_PROGRAM
  if [ -z "$program" ]; then
    set_release
    download "$release"
  fi
  unset INPUT_TOKEN # the program does not need it
  mkdir "$work/bin"
  [[ $program == /* ]] || program=$PWD/$program
  ln -s "$program" "$work/bin/cauri"
  printf '%s\n' "$work/bin" >>"$GITHUB_PATH"
}

dev() {
  get_program
  local arguments=(dev --port 0 --env-file "$work/quoted" --ready-file "$work/ready" --expectations-file "$work/expectations.json")
  [ -z "$INPUT_FILE" ] || arguments+=(--file "$INPUT_FILE")
  nohup "$program" "${arguments[@]}" >"$work/cauri.log" 2>&1 </dev/null &
  remember pid $!
  local deadline=$((SECONDS + 60))
  until [ -e "$work/ready" ]; do
    if ! kill -0 $! 2>/dev/null || [ $SECONDS -ge $deadline ]; then
      take
      mask
      quoted cat "$work/cauri.log"
      fail "cauri dev is not ready; its output is above."
    fi
    sleep 0.1
  done
  take
}

kind_cluster() {
  need docker kind kubectl helm
  local name=cauri-$RANDOM
  set_release
  export KUBECONFIG=$work/kubeconfig
  remember kubeconfig "$KUBECONFIG"
  remember cluster "$name"
  kind create cluster --name "$name" --wait 120s
  helm install cauri "${CAURI_CHART:-oci://ghcr.io/cauri-dev/charts/cauri}" --version "${release#v}" --namespace cauri-system --create-namespace \
    --values "$(dirname "$0")/../../../charts/cauri/values-ci.yaml" --set api.baseURL=http://127.0.0.1:28080 --wait --timeout 5m
  nohup kubectl --namespace cauri-system port-forward service/cauri-api 28080:80 >"$work/port-forward.log" 2>&1 </dev/null &
  remember pid $!
  curl -fsS --retry 30 --retry-delay 1 --retry-connrefused --output /dev/null http://127.0.0.1:28080/v1/health
}

# resources are those of the input file.
resources() {
  local file
  if [ -e "$INPUT_FILE/kustomization.yaml" ]; then
    kubectl kustomize "$INPUT_FILE"
  elif [ -d "$INPUT_FILE" ]; then
    for file in "$INPUT_FILE"/*.y*ml; do
      printf -- '---\n'
      cat "$file"
    done
  else
    cat "$INPUT_FILE"
  fi
}

# in_cluster applies the resources in the namespace of the input, or in one that it makes, and waits for them.
in_cluster() {
  need kubectl
  [ -n "$INPUT_FILE" ] || fail "Name the file or the folder with the SandboxEnvironment in the input file."
  get_program
  if [ -n "$INPUT_KUBECONFIG" ]; then
    export KUBECONFIG=$work/kubeconfig
    printf '%s\n' "$INPUT_KUBECONFIG" >"$KUBECONFIG"
    remember kubeconfig "$KUBECONFIG"
  fi
  local namespace=$INPUT_NAMESPACE
  [ -n "$namespace" ] || namespace=cauri-$GITHUB_RUN_ID-$GITHUB_RUN_ATTEMPT-$(printf '%04x%04x' $RANDOM $RANDOM)
  mkdir "$work/apply"
  resources >"$work/apply/resources.yaml"
  cat >"$work/apply/kustomization.yaml" <<END
namespace: $namespace
resources: [resources.yaml]
patches:
- target: {kind: SandboxEnvironment}
  patch: '[{"op": "add", "path": "/spec/ttl", "value": "$INPUT_TTL"}]'
END
  remember namespace "$namespace"
  if [ -n "$INPUT_NAMESPACE" ]; then
    remember applied "$work/apply" # all that finish.sh removes
  else
    kubectl create namespace "$namespace"
  fi
  quoted kubectl apply -k "$work/apply"
  local kind names name line
  kubectl get -k "$work/apply" --output name >"$work/names"
  for kind in testclient sandboxenvironment; do
    names=$(grep "^$kind" "$work/names" || true)
    # shellcheck disable=SC2086 # one argument each
    [ -z "$names" ] || kubectl --namespace "$namespace" wait --for=condition=Ready --timeout=120s $names || {
      quoted kubectl --namespace "$namespace" get $names --output yaml
      fail "The resources are not ready; their status is above."
    }
  done
  [ -n "$names" ] || fail "There is no SandboxEnvironment in $INPUT_FILE."
  # shellcheck disable=SC2086 # the sandboxes, one argument each
  name=$(kubectl --namespace "$namespace" get $names --output 'jsonpath={..status.binding.name}')
  case $name in
    *' '*) fail "There is more than one SandboxEnvironment in $INPUT_FILE: the outputs are for one." ;;
  esac
  # What is not an address or a name is a credential: mtn-api-key is CAURI_MTN_API_KEY.
  # shellcheck disable=SC2016 # a template of kubectl
  kubectl --namespace "$namespace" get secret "$name" --output 'go-template={{range $k, $v := .data}}{{$k}}={{base64decode $v}}{{"\n"}}{{end}}' |
    while IFS= read -r line; do
      name=${line%%=*}
      case $name in
        type | provider | host | port | organization-id) continue ;;
        webhook-signing-secret) name=webhook-secret ;;
      esac
      printf 'CAURI_%s=%s\n' "$(tr 'a-z-' 'A-Z_' <<<"$name")" "${line#*=}"
    done >"$work/env"
}

umask 077
mkdir "$work" 2>/dev/null || fail "There is a sandbox already: call finish-cauri before setup-cauri is called again in the same job."
remember mode "$INPUT_MODE"
case $INPUT_MODE in
  dev) dev ;;
  kind) kind_cluster && in_cluster ;;
  cluster) in_cluster ;;
  *) fail "The input mode is \"$INPUT_MODE\": write dev, kind or cluster." ;;
esac
mask
{
  printf 'uri=%s\n' "$(variable CAURI_URI)"
  printf 'api-key=%s\n' "$(variable CAURI_API_KEY)"
  printf 'webhook-secret=%s\n' "$(variable CAURI_WEBHOOK_SECRET)"
} >>"$GITHUB_OUTPUT"
cat "$work/env" >>"$GITHUB_ENV"
printf 'The sandbox is ready: %s\n' "$(variable CAURI_URI)"
