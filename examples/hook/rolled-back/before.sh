#!/bin/sh
# Brings the Transaction there, call by call.
set -e
../turn.sh hook-rolled-back
../turn.sh hook-rolled-back
../turn.sh hook-rolled-back
../turn.sh hook-rolled-back
kubectl -n hook-rolled-back annotate tx example tx.janus.io/request-rollback=1
../turn.sh hook-rolled-back
../turn.sh hook-rolled-back
../turn.sh hook-rolled-back
