#!/bin/sh
# Sends each end of a Transaction to a webhook, by kubectl and curl alone: URL=https://hooks.example.com events.sh --all-namespaces
# kubectl first lists the Events of the last hour. So no end is lost while the script is down. The file SENT names those that were sent.
set -eu
sent=${SENT:-$(mktemp)}
touch "$sent"
ends='{{if eq .type "ADDED"}}{{with .object}}{{if or (eq .reason "Committed") (eq .reason "RolledBack") (eq .reason "Failed")}}{{
  .metadata.uid}} {{printf `{"namespace":%q,"transaction":%q,"end":%q,"message":%q,"time":%q}` .metadata.namespace .involvedObject.name .reason .message .lastTimestamp}}
{{end}}{{end}}{{end}}'
# The API server closes a watch after some time.
while true; do
  kubectl get events "$@" --field-selector=involvedObject.apiVersion=tx.janus.io/v1alpha1,source=janus \
    --watch --output-watch-events --output=go-template="$ends" |
    while read -r uid end; do
      if grep -q "$uid" "$sent"; then continue; fi
      if printf '%s\n' "$end" | curl --silent --show-error --fail --retry 5 --retry-all-errors \
        --header 'Content-Type: application/json' --data @- "$URL"; then echo "$uid" >>"$sent"; fi
    done
  sleep 1
done
