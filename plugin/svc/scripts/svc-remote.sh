#!/bin/sh
# The hook of a submitted prompt: informs the model when the prompt came from the phone.
exec "${0%/*}/svc.sh" remote-hook cc "$@"
