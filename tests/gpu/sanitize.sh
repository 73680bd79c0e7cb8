#!/usr/bin/env bash
# Runs the GPU tests of a bundle under compute-sanitizer: memcheck and racecheck of the ladder, the
# layers of networks, the transfers and the tensors, in under 14 minutes.
#   ./sanitize.sh [RESULTS]      the folder for reports; default ./sanitized
# The exit status is 0 if all are clean, 1 if one is not, 2 if none is unclean but one was not
# finished, and 77 if compute-sanitizer is not installed.
# Environment: LAB_SANITIZE_SECONDS limits each of the eight runs (90), racecheck of the ladder twice
# as long.
set -uo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
results=${1:-$here/sanitized}
each_s=${LAB_SANITIZE_SECONDS:-90}
mkdir -p -- "$results" || exit 1
results=$(cd -- "$results" && pwd)

PATH=$PATH:/usr/local/cuda/bin
if ! command -v compute-sanitizer >/dev/null; then
  echo "sanitize.sh: compute-sanitizer is not installed; it comes with the CUDA Toolkit" >&2
  exit 77
fi
# shellcheck source=libraries.sh
source "$here/libraries.sh"

export LAB_TEST_OWN_KERNELS=1 # racecheck reports hazards in kernels of cuDNN

# Tests of error handling make runtime calls fail on purpose, so failed calls are not reported.
declare -A options=([memcheck]="--report-api-errors no" [racecheck]="")

clean=0 unclean=0 unfinished=0

# Classifies a run of NAME by its exit status and its report.
judge() { # NAME STATUS REPORT
  local summary
  summary=$(grep -E 'ERROR SUMMARY: 0 errors|RACECHECK SUMMARY: 0 hazards' "$3" | tail -1)
  if grep -qE '^=+ +(Error:|Invalid )' "$3"; then
    unclean=$((unclean + 1))
    echo "$1: not clean, see $3"
  elif (($2 == 124 || $2 == 137)); then
    unfinished=$((unfinished + 1))
    echo "$1: not finished within $limit_s s; no error until then"
  elif (($2 == 0)) && [[ -n $summary ]] && grep -q '  OK ' "$3"; then
    clean=$((clean + 1))
    echo "$1: clean; $summary"
  else
    # A tool that did not start, or tests that all skip, verify nothing.
    unclean=$((unclean + 1))
    echo "$1: not clean (status $2), see $3"
  fi
}

for tool in memcheck racecheck; do
  for test in layers ladder transfer tensor; do
    report=$results/${tool}_$test.txt
    limit_s=$each_s
    [[ "$tool $test" != "racecheck ladder" ]] || limit_s=$((2 * each_s))
    # shellcheck disable=SC2086 # word splitting is intended
    timeout --kill-after=5 "$limit_s" compute-sanitizer --tool "$tool" --error-exitcode 99 \
      ${options[$tool]} "$here/gpu_test_$test" >"$report" 2>&1 </dev/null
    judge "$tool $test" $? "$report"
  done
done
echo "$clean clean, $unclean not clean, $unfinished not finished"
((unclean == 0)) || exit 1
((unfinished == 0)) || exit 2
