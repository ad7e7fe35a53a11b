#!/bin/sh
# Installs the exact dependencies when they are missing or older than the lock file, then checks that
# the Node in front of the PATH (npm puts node_modules/.bin there) is one that runs TypeScript as it is.
set -eu
cd "$(dirname "$0")/.."

installed=node_modules/.package-lock.json
if [ ! -f "$installed" ] || [ package-lock.json -nt "$installed" ]; then
  echo "Installing dependencies into node_modules (about 1 GB, once) ..." >&2
  npm ci --no-audit --no-fund --loglevel=error >&2
  touch "$installed"
fi

PATH="$PWD/node_modules/.bin:$PATH"
major=$(node -p 'process.versions.node.split(".")[0]')
if [ "$major" -lt 24 ]; then
  echo "Postrider needs Node 24 or newer and found $(node -v). Install one from nodejs.org." >&2
  exit 1
fi
