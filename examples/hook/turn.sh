#!/bin/sh
# One turn of Metacontroller's loop by hand: calls the hook for the Transaction `example` of a namespace, and stores the status
# that it answers. Usage: HOOK=http://127.0.0.1:8080 HOOK_TOKEN=... ./turn.sh NAMESPACE
set -e
transaction=$(kubectl -n "$1" get tx example -o json)
answer=$(printf '{"controller":{},"parent":%s,"children":{},"related":{},"finalizing":false}' "$transaction" |
  curl -sS --fail -H "authorization: Bearer $HOOK_TOKEN" -H 'content-type: application/json' --data-binary @- "$HOOK/sync")
printf '%s' "$answer" | sed -E 's/^\{"status":(.*),"children":\[\],"resyncAfterSeconds":[0-9.]+\}$/[{"op":"add","path":"\/status","value":\1}]/' |
  kubectl -n "$1" patch tx example --subresource=status --type=json --patch-file=/dev/stdin
