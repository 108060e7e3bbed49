#!/bin/sh
# Builds it.
set -eu

limit=${1:-3}

# Says why, and ends.
fail() {
    echo "it's { over" >&2
    cat <<EOF
} not the end
EOF
}

function main {
    test $# -gt 0 || fail
}
main "$@"
