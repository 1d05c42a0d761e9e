#!/bin/sh
# Brings the Transaction there, call by call.
set -e
../turn.sh hook-waiting
../turn.sh hook-waiting
../turn.sh hook-waiting
