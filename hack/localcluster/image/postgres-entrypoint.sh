#!/bin/sh
# Creates a database at the first start, and then executes the server. It supports the variables of the official image that
# the chart sets: PGDATA, POSTGRES_USER, POSTGRES_DB, POSTGRES_PASSWORD and POSTGRES_PASSWORD_FILE.
set -eu

# make_database <folder>
make_database() {
  password=${POSTGRES_PASSWORD:-}
  [ -z "${POSTGRES_PASSWORD_FILE:-}" ] || password=$(cat "$POSTGRES_PASSWORD_FILE")
  if [ -z "$password" ]; then
    echo "no password for the superuser: set POSTGRES_PASSWORD_FILE or POSTGRES_PASSWORD" >&2
    exit 1
  fi
  umask 077
  file=${TMPDIR:-/tmp}/password
  printf '%s\n' "$password" >"$file"
  initdb --username="$user" --pwfile="$file" --auth-local=trust --auth-host=scram-sha-256 --encoding=UTF8 --locale=C \
    --no-instructions --pgdata="$1"
  rm "$file"
  echo "listen_addresses = '*'" >>"$1/postgresql.conf"
  echo "host all all all scram-sha-256" >>"$1/pg_hba.conf"
  if [ "$database" != postgres ]; then
    quoted=$(printf %s "$database" | sed 's/"/""/g')
    echo "CREATE DATABASE \"$quoted\"" | postgres --single -D "$1" postgres >/dev/null
  fi
}

case ${1:-} in
  postgres) shift ;;
  -* | '') ;;
  *) exec "$@" ;; # another program of the image
esac
user=${POSTGRES_USER:-postgres}
database=${POSTGRES_DB:-$user}

if [ ! -s "$PGDATA/PG_VERSION" ]; then
  # The database is created in another folder and then renamed, so that a killed pod leaves no incomplete database. If the
  # folder is itself the volume, this is not possible, and the database is created in place.
  partial=$PGDATA.partial
  if rm -rf "$partial" 2>/dev/null && mkdir -p "$partial" 2>/dev/null; then
    make_database "$partial"
    [ ! -d "$PGDATA" ] || rmdir "$PGDATA"
    mv "$partial" "$PGDATA"
  else
    make_database "$PGDATA"
  fi
fi
exec postgres -D "$PGDATA" "$@"
