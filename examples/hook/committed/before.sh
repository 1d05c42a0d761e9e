#!/bin/sh
# Brings the Transaction there, call by call.
set -e
../turn.sh hook-committed
../turn.sh hook-committed
../turn.sh hook-committed
../turn.sh hook-committed
