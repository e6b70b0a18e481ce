#!/bin/sh
# Makes the keys and certificates that all replicas share, and the administrator's kubeconfig: make-keys.sh DIRECTORY
# A server is started once for them, on a free port, and is asked for a token, so that the key that signs those is there too.
set -eu
directory=${1:?name a directory that does not exist yet}
pintle=${PINTLE:-pintle}
[ ! -e "$directory" ] || { echo "$directory exists" >&2; exit 1; }
$pintle serve --data-dir "$directory" --secure-port 0 > "$directory.log" 2>&1 &
server=$!
trap 'kill "$server" 2> /dev/null || true; wait "$server" || true; rm -rf "$directory.log" "$directory/store"' EXIT
tries=0
until grep -q '^kubectl' "$directory.log" && kubectl --kubeconfig "$directory/admin.kubeconfig" create token default > /dev/null 2>&1; do
  tries=$((tries + 1))
  [ "$tries" -lt 100 ] || { cat "$directory.log" >&2; exit 1; }
  sleep 0.2
done
kubectl --kubeconfig "$directory/admin.kubeconfig" config set-cluster pintle --server https://127.0.0.1:6443 > /dev/null
echo "$directory/pki holds the keys, $directory/admin.kubeconfig is for https://127.0.0.1:6443"
