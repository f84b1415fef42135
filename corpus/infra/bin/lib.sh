#!/usr/bin/env bash
# Sourced by the scripts beside it; defines functions and nothing else.

log() {
  printf '%s %s\n' "$(date -u +%H:%M:%S)" "$*" >&2
}

die() {
  log "error: $*"
  exit 1
}

# retry_with_backoff TRIES COMMAND...: sleeps 1, 2, 4 ... seconds between tries.
retry_with_backoff() {
  local tries=$1 delay=1 try
  shift
  for ((try = 1; try < tries; try++)); do
    "$@" && return 0
    log "try $try of $tries failed, next in ${delay}s: $*"
    sleep "$delay"
    delay=$((delay * 2))
  done
  "$@"
}

# parse_duration 1h30m: prints seconds. The same words as parseDuration in the duration library,
# without fractions.
parse_duration() {
  local text=$1 total=0
  while [[ $text =~ ^([0-9]+)([smhd])(.*)$ ]]; do
    case ${BASH_REMATCH[2]} in
      s) ((total += BASH_REMATCH[1])) ;;
      m) ((total += BASH_REMATCH[1] * 60)) ;;
      h) ((total += BASH_REMATCH[1] * 3600)) ;;
      d) ((total += BASH_REMATCH[1] * 86400)) ;;
    esac
    text=${BASH_REMATCH[3]}
  done
  [[ -z $text ]] || return 1
  printf '%d\n' "$total"
}
