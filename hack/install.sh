#!/usr/bin/env bash
# Installs Debian packages: hack/install.sh REASON PACKAGE... Like localcluster, it first prints the commands and the reason.
# CAURI_INSTALL=0 refuses the installation. The script fails if the packages are not installed at the end.
set -euo pipefail

reason=$1
shift
commands=("apt-get update -q" "apt-get install -q -y --no-install-recommends $*")
list=$(printf '  %s\n' "${commands[@]}")

if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
  echo "$* is not installed, and $reason. Install it; on Debian, as root:"$'\n'"$list" >&2
  exit 1
fi
case ${CAURI_INSTALL:-1} in
  1) echo "$* is not installed, and $reason. Installing it on this machine (CAURI_INSTALL=0 refuses):"$'\n'"$list" ;;
  0) echo "$* is not installed, and $reason. CAURI_INSTALL=0, so nothing is installed. The commands are:"$'\n'"$list" >&2; exit 1 ;;
  *) echo "CAURI_INSTALL=$CAURI_INSTALL: write 0 to install no packages, or unset it" >&2; exit 1 ;;
esac
export DEBIAN_FRONTEND=noninteractive
for command in "${commands[@]}"; do
  read -ra words <<<"$command"
  "${words[@]}" >/dev/null
done
