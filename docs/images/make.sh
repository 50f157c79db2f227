#!/bin/sh
# Makes the pictures of this folder from the real program in Chromium.
set -eu
cd "$(dirname "$0")/../.."
LANGROOMS_SCREENSHOTS="$PWD/docs/images" go test ./cmd/langrooms -run '^TestScreenshots$' -count=1
