#!/usr/bin/env bash
# Runs the GPU tests of a bundle under compute-sanitizer: memcheck and racecheck of the ladder, the
# transfers and the tensors.
#   ./sanitize.sh [RESULTS]      the folder for reports; default ./sanitized
# Exit status 0 when all are clean, 1 when one is not, 77 where compute-sanitizer is not installed.
set -uo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
results=${1:-$here/sanitized}
each_s=130
mkdir -p -- "$results" || exit 1
results=$(cd -- "$results" && pwd)

PATH=$PATH:/usr/local/cuda/bin
if ! command -v compute-sanitizer >/dev/null; then
  echo "sanitize.sh: compute-sanitizer is not installed; it comes with the CUDA Toolkit" >&2
  exit 77
fi
# shellcheck source=libraries.sh
source "$here/libraries.sh"

worst=0
for tool in memcheck racecheck; do
  for test in ladder transfer tensor; do
    report=$results/${tool}_$test.txt
    timeout --kill-after=5 "$each_s" compute-sanitizer --tool "$tool" --error-exitcode 99 \
      "$here/gpu_test_$test" >"$report" 2>&1 </dev/null
    status=$?
    ((status == 0)) || worst=1
    echo "$tool $test: status $status; $(grep -E 'ERROR SUMMARY|RACECHECK SUMMARY' "$report" | tail -1)"
  done
done
exit "$worst"
