#!/usr/bin/env bash
# Runs the GPU tests of a bundle under compute-sanitizer: memcheck and racecheck of the ladder, the
# transfers and the tensors, in under 9 minutes.
#   ./sanitize.sh [RESULTS]      the folder for reports; default ./sanitized
# The exit status is 0 if all are clean, 1 if one is not, and 77 if compute-sanitizer is not
# installed.
set -uo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
results=${1:-$here/sanitized}
each_s=90
mkdir -p -- "$results" || exit 1
results=$(cd -- "$results" && pwd)

PATH=$PATH:/usr/local/cuda/bin
if ! command -v compute-sanitizer >/dev/null; then
  echo "sanitize.sh: compute-sanitizer is not installed; it comes with the CUDA Toolkit" >&2
  exit 77
fi
# shellcheck source=libraries.sh
source "$here/libraries.sh"

# Tests of error handling make runtime calls fail on purpose, so failed calls are not reported.
declare -A options=([memcheck]="--report-api-errors no" [racecheck]="")

worst=0
for tool in memcheck racecheck; do
  for test in ladder transfer tensor; do
    report=$results/${tool}_$test.txt
    # shellcheck disable=SC2086 # word splitting is intended
    timeout --kill-after=5 "$each_s" compute-sanitizer --tool "$tool" --error-exitcode 99 \
      ${options[$tool]} "$here/gpu_test_$test" >"$report" 2>&1 </dev/null
    status=$?
    summary=$(grep -E 'ERROR SUMMARY: 0 errors|RACECHECK SUMMARY: 0 hazards' "$report" | tail -1)
    # A tool that did not start, or tests that all skip, verify nothing.
    [[ $status == 0 && -n $summary ]] && grep -q '  OK ' "$report" || worst=1
    echo "$tool $test: status $status; ${summary:-not clean, see $report}"
  done
done
exit "$worst"
