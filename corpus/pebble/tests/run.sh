#!/bin/sh
# Every tests/*.lisp is run; its output must be what stands behind "; => " in it.
set -u
failed=0
for file in tests/*.lisp; do
  want=$(sed -n 's/.*; => //p' "$file")
  got=$(./pebble < "$file" | sed 's/^\(> \)*//' | sed '/^$/d')
  if [ "$want" != "$got" ]; then
    echo "$file: wanted '$want', got '$got'" >&2
    failed=1
  fi
done
exit $failed
