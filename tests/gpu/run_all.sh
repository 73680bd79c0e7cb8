#!/usr/bin/env bash
# Runs the GPU tests, the transfers and the matmul ladder of a bundle (bundle.sh) on this machine
# and writes the results as JSON, in under 8 minutes.
#   ./run_all.sh [RESULTS]       the folder for results; default ./results
# RESULTS/summary.json holds the date and one line per step with its exit status and seconds. Test
# results are in <test>.json, measurements in <name>.jsonl, other output in <name>.log.
# tests/gpu/reference.py creates the GPU's reference for the window from them.
# The exit status is 0 if every step exits with 0. bars.py RESULTS compares the results with the
# targets.
# Environment: LAB_RUN_SECONDS limits the whole run, LAB_STEP_SECONDS a single step.
set -uo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
results=${1:-$here/results}
whole_s=${LAB_RUN_SECONDS:-460}
mkdir -p -- "$results" || exit 1
results=$(cd -- "$results" && pwd)

# shellcheck source=libraries.sh
source "$here/libraries.sh"
export XDG_CACHE_HOME="$results/cache"

lab=$here/device-lab
summary=$results/summary.json
worst=0
planned_s=0  # expected time of the remaining steps
planning=1

# step NAME SECONDS OUTPUT COMMAND...
# SECONDS is the expected time on a large GPU. The limit is three times that, but always leaves
# enough time for the remaining steps, so that a step that hangs does not prevent the others.
step() {
  local name=$1 expected_s=$2 output=$3 left_s limit_s status started=$SECONDS command
  shift 3
  if ((planning)); then
    planned_s=$((planned_s + expected_s))
    return
  fi
  command="${*#"$here/"}"
  planned_s=$((planned_s - expected_s))
  left_s=$((whole_s - SECONDS - planned_s))
  if ((left_s < 1)); then
    printf '{"type":"skip","what":"%s","reason":"the time limit of the run is reached"}\n' "$name" |
      tee -a "$summary"
    worst=1
    return
  fi
  limit_s=${LAB_STEP_SECONDS:-$((3 * expected_s))}
  timeout --kill-after=5 $((limit_s < left_s ? limit_s : left_s)) "$@" \
    >"$results/$output" 2>"$results/$name.log" </dev/null
  status=$?
  ((status == 0)) || worst=1
  printf '{"type":"step","step":"%s","command":"%s","status":%d,"seconds":%d}\n' "$name" \
    "${command//[\"\\]/}" "$status" $((SECONDS - started)) | tee -a "$summary"
}

# Most important steps first. Most transfer cases end long before --budget, as soon as their median
# is known; creating and comparing 1 GiB buffers dominates the time.
steps() {
  local test bench name dtype
  step devices 5 devices.jsonl "$lab" devices --json
  for test in "$here"/gpu_test_*; do
    name=${test##*/}
    step "$name" 20 "$name.out" "$test" "--gtest_output=json:$results/$name.json"
  done
  step transfer 20 transfer.jsonl "$lab" transfer --from cuda:0 --to cuda:0 --budget 0.2 --json
  step transfer_up 45 transfer_up.jsonl \
    "$lab" transfer --from cpu:0 --to cuda:0 --memory both --budget 0.2 --json
  step transfer_down 35 transfer_down.jsonl \
    "$lab" transfer --from cuda:0 --to cpu:0 --memory both --budget 0.2 --json
  for dtype in f32 bf16 tf32; do
    step "matmul_$dtype" 35 "matmul_$dtype.jsonl" "$lab" matmul --devices cuda:0 \
      --sizes 8192,4096,2048,1024,512,256,128,64 --dtype "$dtype" --budget 0.25 --json
  done
  # Finds the size from which moving work to the GPU pays off: copies to, within and from the GPU,
  # and on the CPU, in one run.
  step payoff 15 payoff.jsonl \
    "$lab" transfer --devices cuda:0 --ops copy --sizes 64KiB..64MiB --budget 0.1 --json
  step peers 30 peers.jsonl python3 "$here/peers.py"
  for bench in "$here"/gpu_bench_*; do
    [[ -x $bench ]] || continue
    name=${bench##*/}
    step "$name" 60 "$name.jsonl" "$bench"
  done
}

steps
planning=0
printf '{"type":"run","date":"%s","device_lab":"%s","planned_s":%d}\n' "$(date -u +%F)" \
  "$("$lab" version | sed -n '1s/^device-lab //p')" "$planned_s" >"$summary"
steps
printf '{"type":"done","seconds":%d,"status":%d}\n' "$SECONDS" "$worst" | tee -a "$summary"
exit "$worst"
