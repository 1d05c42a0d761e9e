#!/bin/sh
# Brings the Transaction there, call by call.
set -e
../turn.sh hook-rolling-back
../turn.sh hook-rolling-back
../turn.sh hook-rolling-back
../turn.sh hook-rolling-back
kubectl -n hook-rolling-back annotate tx example tx.janus.io/request-rollback=1
../turn.sh hook-rolling-back
