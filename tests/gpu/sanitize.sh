#!/usr/bin/env bash
# Runs the GPU tests of a bundle under compute-sanitizer: memcheck and racecheck of the ladder, the
# transfers and the tensors.
#   ./sanitize.sh [RESULTS]      the folder for reports; default ./sanitized
# In under 9 minutes. Exit status 0 when all are clean, 1 when one is not, 77 where compute-sanitizer is not installed.
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

# Tests of refusals make the runtime fail on purpose: calls that fail are no finding.
declare -A options=([memcheck]="--report-api-errors no" [racecheck]="")

worst=0
for tool in memcheck racecheck; do
  for test in ladder transfer tensor; do
    report=$results/${tool}_$test.txt
    # shellcheck disable=SC2086 # words of their own
    timeout --kill-after=5 "$each_s" compute-sanitizer --tool "$tool" --error-exitcode 99 \
      ${options[$tool]} "$here/gpu_test_$test" >"$report" 2>&1 </dev/null
    status=$?
    summary=$(grep -E 'ERROR SUMMARY: 0 errors|RACECHECK SUMMARY: 0 hazards' "$report" | tail -1)
    # A tool that never began, or tests that all skip, have shown nothing.
    [[ $status == 0 && -n $summary ]] && grep -q '  OK ' "$report" || worst=1
    echo "$tool $test: status $status; ${summary:-not clean, see $report}"
  done
done
exit "$worst"
