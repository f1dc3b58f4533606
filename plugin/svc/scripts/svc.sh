#!/bin/sh
# Runs svc with these arguments: the one that `svc setup` recorded, else the one on PATH. Without svc the agent goes on.
svc=${SVC_BIN:-${SVC_HOME:-$HOME/.svc}/bin/svc}
[ -x "$svc" ] || svc=$(command -v svc) || exit 0
[ "$1" = mcp ] && exec "$svc" "$@"
# A hook that waits for a phone ends with the signal that the agent sends it.
[ "$4" = cards ] && exec "$svc" "$@" 2>/dev/null
"$svc" "$@" 2>/dev/null
exit 0
