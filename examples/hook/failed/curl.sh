#!/bin/sh
sed "s/{uid}/$TRANSACTION_UID/" request.json | curl -sS -H 'content-type: application/json' --data-binary @- "$HOOK/sync"
