#!/usr/bin/env bash
# Runs the GPU tests, the transfers and the matmul ladder of a bundle (bundle.sh) on this machine and
# writes what they say as JSON, in under 8 minutes.
#   ./run_all.sh [RESULTS]       the folder for results; default ./results
# RESULTS/summary.json says when it ran and has one line a step with its exit status and seconds; the
# tests' results are <test>.json, the measurements <name>.jsonl; what was printed beside them is in <name>.log.
# tests/gpu/reference.py makes the card's reference for the window from them.
# Exit status 0 when every step ended with 0. bars.py RESULTS compares them with what was aimed at.
set -uo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
results=${1:-$here/results}
whole_s=460
mkdir -p -- "$results" || exit 1
results=$(cd -- "$results" && pwd)

# shellcheck source=libraries.sh
source "$here/libraries.sh"
export XDG_CACHE_HOME="$results/cache"

summary=$results/summary.json
lab_version=$("$here/device-lab" version | sed -n '1s/^device-lab //p')
printf '{"type":"run","date":"%s","device_lab":"%s"}\n' "$(date -u +%F)" "$lab_version" >"$summary"
worst=0

# step NAME MOST_SECONDS OUTPUT COMMAND...
step() {
  local name=$1 most_s=$2 output=$3 left_s status started=$SECONDS command
  shift 3
  command="${*#"$here/"}"
  left_s=$((whole_s - SECONDS))
  if ((left_s < 5)); then
    printf '{"type":"skip","what":"%s","reason":"the time for the whole run is over"}\n' "$name" \
      >>"$summary"
    worst=1
    return
  fi
  timeout --kill-after=5 $((most_s < left_s ? most_s : left_s)) "$@" \
    >"$results/$output" 2>"$results/$name.log" </dev/null
  status=$?
  ((status == 0)) || worst=1
  printf '{"type":"step","step":"%s","command":"%s","status":%d,"seconds":%d}\n' "$name" \
    "${command//[\"\\]/}" "$status" $((SECONDS - started)) | tee -a "$summary"
}

step devices 30 devices.jsonl "$here/device-lab" devices --json
for test in "$here"/gpu_test_*; do
  name=${test##*/}
  step "$name" 120 "$name.out" "$test" "--gtest_output=json:$results/$name.json"
done
step transfer 90 transfer.jsonl "$here/device-lab" transfer --from cuda:0 --to cuda:0 --json
step transfer_up 60 transfer_up.jsonl "$here/device-lab" transfer --from cpu:0 --to cuda:0 --memory both --json
step transfer_down 60 transfer_down.jsonl "$here/device-lab" transfer --from cuda:0 --to cpu:0 --memory both --json
for dtype in f32 bf16 tf32; do
  step "matmul_$dtype" 90 "matmul_$dtype.jsonl" "$here/device-lab" matmul --devices cuda:0 \
    --sizes 64..8192 --dtype "$dtype" --budget 0.25 --json
done
step peers 60 peers.jsonl python3 "$here/peers.py"
for bench in "$here"/gpu_bench_*; do
  [[ -x $bench ]] || continue
  name=${bench##*/}
  step "$name" 100 "$name.jsonl" "$bench"
done

printf '{"type":"done","seconds":%d,"status":%d}\n' "$SECONDS" "$worst" | tee -a "$summary"
exit "$worst"
