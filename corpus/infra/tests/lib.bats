#!/usr/bin/env bats

setup() {
  source "$BATS_TEST_DIRNAME/../bin/lib.sh"
}

@test "parse_duration adds its parts" {
  [ "$(parse_duration 1h30m)" = 5400 ]
}

@test "parse_duration refuses what it does not know" {
  ! parse_duration "1 week"
}

@test "retry_with_backoff stops at the first success" {
  run retry_with_backoff 3 true
  [ "$status" -eq 0 ]
}
