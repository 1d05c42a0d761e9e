#!/bin/sh
# How a script learns what became of a Transaction, by kubectl alone: wait.sh NAMESPACE NAME [TIMEOUT]
# Finished is also what was rolled back or failed; Succeeded says which. Exit code: 0 Committed, 1 ended otherwise, 2 not ended in time.
# (`janus apply --wait` has the same in finer codes: docs/cli.md.)
set -eu
kubectl --namespace "$1" wait --for=condition=Finished --timeout="${3:-10m}" "transactions.tx.janus.io/$2" || exit 2
kubectl --namespace "$1" wait --for=condition=Succeeded --timeout=0 "transactions.tx.janus.io/$2" && exit 0
kubectl --namespace "$1" get "transactions.tx.janus.io/$2" --output=jsonpath='{.status.phase}: {.status.message}{"\n"}' >&2
exit 1
