#!/usr/bin/env bash
set -euo pipefail
VERSION="1.0"
readonly LIMIT=10
declare -A map=([a]=1 [b]=2)
declare -r FROZEN=1
export PATH="$PATH:/opt/bin"
export EXPORTED
alias ll='ls -la'

greet() {
  local name="${1:-world}"
  inner=1
  echo "hello ${name@Q}" <<< "$LIMIT"
}

function with_keyword {
  cat <<-'EOF' | sed -e 's/x/y/'
	here $doc
	EOF
}

function both-forms() ( cd /tmp && ls )

if [[ $VERSION =~ ^[0-9]+\.(.*)$ && -n ${map[a]} ]]; then
  conditional() { :; }
  IN_IF=2
fi
case "$1" in
  a|b) greet "$@" ;;
  *) for ((i = 0; i < 3; i++)); do ((i++)); done ;;
esac
namespace::function() { echo $((1 + 2)); }
