#!/bin/sh
# The gate that the workflows beside this file call: layout, findings, policy tests, and what a change opens.
#
#   gate.sh POLICY…            judges each policy by itself
#   BASE=origin/main gate.sh POLICY…   compares each with that revision as well, and fails where access is widened
#
# ACCEPT names a file of reviewed widenings, MIN_SCORE the mutants in a hundred that tests must notice, and
# AGENT_SANDBOX_SERVER the program where it is not on PATH. The exit status is the worst that was met: 1 findings or a
# failed test, 2 usage, 3 unreadable, 4 widened.
set -u
server="${AGENT_SANDBOX_SERVER:-agent-sandbox-server}"
worst=0

run() {
  "$server" "$@"
  status=$?
  [ "$status" -le "$worst" ] || worst=$status
}

for policy in "$@"; do
  run fmt --check "$policy"
  run check-config --policy "$policy" --strict ${FORMAT:+--format "$FORMAT"}
  if grep -q '^server_tests:' "$policy"; then
    run test "$policy" --mutate --min-score "${MIN_SCORE:-0}" ${FORMAT:+--format "$FORMAT"}
  fi
  if [ -n "${BASE:-}" ] && git cat-file -e "$BASE:./$policy" 2>/dev/null; then
    run diff "git:$BASE:$policy" "$policy" --deny-widening ${ACCEPT:+--accept "$ACCEPT"} ${FORMAT:+--format "$FORMAT"}
  fi
done
exit "$worst"
