#!/usr/bin/env bash
# Keeps what the sandbox of setup-cauri did in $RUNNER_TEMP/cauri-report, writes a summary, and removes the sandbox. It goes on whatever fails.
set -uo pipefail

export LC_ALL=C # quick with long logs
work=$RUNNER_TEMP/cauri
report=$RUNNER_TEMP/cauri-report
mode='' pid='' kubeconfig='' cluster='' namespace='' applied=''
if ! [ -e "$work/state" ]; then
  echo "There is no sandbox to finish."
  exit 0
fi
# shellcheck source=/dev/null # setup.sh wrote it
. "$work/state"
[ -z "$kubeconfig" ] || export KUBECONFIG=$kubeconfig
mkdir -p "$report"

warn() { printf '::warning title=finish-cauri::%s\n' "$1"; }
variable() { sed -n "s/^$1=//p" "$work/env"; }
get() { # path of the API
  curl -fsS --max-time 20 --header "Authorization: Bearer $(variable CAURI_API_KEY)" "$(variable CAURI_URI)/api/v1/$1" | jq .
}

# hide replaces the credentials in a file, also as JSON and shells have them. A PIN of four digits stays: many numbers have it.
hide() { # file
  local line value escaped quoted text
  text=$(<"$1")
  while IFS= read -r line; do
    value=${line#*=}
    if [ ${#value} -ge 8 ] && [[ ${line%%=*} != *URI ]]; then
      escaped=${value//\\/\\\\}
      escaped=${escaped//\"/\\\"}
      quoted=${value//\'/\'\\\'\'}
      text=${text//"$value"/***}
      text=${text//"$quoted"/***}
      text=${text//"$escaped"/***}
    fi
  done <"$work/env"
  printf '%s\n' "$text" >"$1"
}

if ! command -v jq >/dev/null; then
  warn "There is no jq on this runner, so the summary and the artifact do not have what happened in the sandbox."
elif [ -e "$work/env" ]; then
  sleep 2 # a refused request is listed about a second after its answer
  get 'requests?limit=100' >"$report/requests.json" || warn "The refused requests of the sandbox could not be read."
  get 'events?limit=100' >"$report/events.json" || warn "The events of the sandbox could not be read."
  # The events that have more attempts than the one that was acknowledged.
  jq -r '[.data[] | select(.attemptCount > (if .state == "delivered" then 1 else 0 end)).id][:20][]' "$report/events.json" | while read -r id; do
    get "events/$id"
  done | jq -s . >"$report/attempts.json"
fi
if [ "$mode" = dev ]; then
  cp "$work/cauri.log" "$work/expectations.json" "$report" 2>/dev/null
fi
if [ -n "$namespace" ]; then
  {
    kubectl --namespace "$namespace" get sandboxenvironments,testclients,expectations --output wide
    kubectl --namespace "$namespace" get events --sort-by=.lastTimestamp
  } >"$report/resources.txt" 2>&1 || warn "The resources could not be read."
  kubectl --namespace "$namespace" get expectations --output json >"$report/expectations.json" || warn "The Expectations could not be read."
fi
if [ -e "$work/env" ]; then
  for file in "$report"/*; do
    [ ! -s "$file" ] || hide "$file"
  done
fi

{
  printf '### Cauri (%s)\n\n' "$mode"
  if [ -e "$report/attempts.json" ]; then
    touch "$report/expectations.json"
    jq -nr --slurpfile expectations "$report/expectations.json" --slurpfile events "$report/events.json" --slurpfile attempts "$report/attempts.json" --slurpfile requests "$report/requests.json" \
      -f "$(dirname "$0")/summary.jq"
  fi
  if [ -s "$report/resources.txt" ]; then
    printf '\n'
    sed 's/^/    /' "$report/resources.txt" # indented, nothing in it ends a block of code
  fi
} >>"$GITHUB_STEP_SUMMARY"

if [ -n "$applied" ]; then
  kubectl delete -k "$applied" --ignore-not-found --wait=false || warn "The resources in the namespace $namespace could not be deleted."
elif [ -n "$namespace" ] && [ -z "$cluster" ]; then
  kubectl delete namespace "$namespace" --ignore-not-found --wait=false || warn "The namespace $namespace could not be deleted."
fi
if [ -n "$pid" ] && kill "$pid" 2>/dev/null; then
  for _ in {1..100}; do # it has ten seconds to stop
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.1
  done
fi
if [ -n "$cluster" ]; then
  kind delete cluster --name "$cluster" || warn "The cluster $cluster could not be deleted."
fi
rm -rf "$work"
