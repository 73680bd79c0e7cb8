#!/usr/bin/env bash
# Runs the GPU tests, trainings, transfers and the matmul ladder of a bundle (bundle.sh) on this
# machine and writes the results, in under 10 minutes.
#   ./run_all.sh [RESULTS]       the folder for results; default ./results
# The trainings to an accuracy need Fashion-MNIST, in fashion-mnist/ beside this script or in
# $LAB_DATA_DIR.
# RESULTS/summary.json holds the date, and each step's exit status, seconds and counts.
# RESULTS/results.tar.gz holds the files: test results in <test>.json, measurements in <name>.jsonl,
# other output in <name>.log. Both are complete after every step, so that a run that is ended early
# keeps its results.
# tests/gpu/reference.py creates the GPU's reference for the window from them.
# The exit status is 0 if every step exits with 0. bars.py RESULTS compares the results with the
# targets.
# Environment: LAB_RUN_SECONDS limits the whole run, LAB_STEP_SECONDS a single step.
set -uo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
folder=${1:-$here/results}
whole_s=${LAB_RUN_SECONDS:-570}
mkdir -p -- "$folder" || exit 1
folder=$(cd -- "$folder" && pwd)
results=$(mktemp -d) || exit 1
cache=$(mktemp -d) || exit 1

# PyTorch prepares its trainings while the tests run, and waits until it may measure.
declare -A prepared=() # process groups by rows
prepare_training() { # ROWS
  setsid bash -c 'python3 "$0/training.py" "$1" "$2" --ready "$3/ready_$2" >"$3/$2" 2>"$3/errors_$2"
echo $? >"$3/ended_$2"' "$here" "$lab" "$1" "$cache" </dev/null &
  prepared[$1]=$!
}
end_preparation() { # ROWS
  local group=${prepared[$1]:-}
  [[ -n $group ]] || return 0
  unset "prepared[$1]"
  kill -- "-$group" 2>/dev/null
  for _ in {1..50}; do
    kill -0 -- "-$group" 2>/dev/null || return 0
    sleep 0.1
  done
  kill -KILL -- "-$group"
}
measure_training='touch "$0/ready_$1"; until [[ -s $0/ended_$1 ]]; do sleep 0.2; done
cat "$0/$1"; cat "$0/errors_$1" >&2; [[ $(<"$0/ended_$1") == 0 ]]'

trap 'end_preparation compiled; end_preparation eager; rm -rf -- "$results" "$cache"' EXIT
export XDG_CACHE_HOME=$cache
lab=$here/device-lab

# shellcheck source=libraries.sh
source "$here/libraries.sh"

[[ ! -d $here/fashion-mnist ]] || export LAB_DATA_DIR=$here/fashion-mnist
worst=0
planned_s=0  # expected time of the remaining steps
planning=1
about=       # of the run, as JSON fields
steps=()     # JSON objects

# Writes the text as a JSON string.
quoted() {
  printf '"%s"' "$(printf '%s' "$1" | tr -d '\000-\037' | sed 's/[\\"]/\\&/g')"
}

# Replaces the summary and the archive by the current ones.
save() {
  local joined
  joined=$(printf ',\n  %s' "${steps[@]}")
  printf '{%s, "seconds": %d, "status": %d,\n "steps": [%s\n]}\n' "$about" "$SECONDS" "$worst" \
    "${joined:1}" >"$folder/summary.json.new" && mv -- "$folder/summary.json.new" "$folder/summary.json"
  tar -C "$results" -czf "$folder/results.tar.gz.new" . &&
    mv -- "$folder/results.tar.gz.new" "$folder/results.tar.gz"
}

add_step() {
  steps+=("$1")
  printf '%s\n' "$1"
  save
}

# Counts of a step's output, as JSON fields: samples and failures of measurements, cases of tests.
counts() {
  local name pattern number
  while read -r name pattern; do
    number=$(grep -cE "$pattern" "$1")
    ((number == 0)) || printf ', "%s": %d' "$name" "$number"
  done <<'PATTERNS'
samples ^\{"type": ?"(sample|bench|peer|train)"
failed (^\{"type": ?"(fail|error)"|^\[  FAILED  \] .*\([0-9]+ ms\))
skipped (^\{"type": ?"skip"|^\[  SKIPPED \] .*\([0-9]+ ms\))
passed ^\[       OK \]
PATTERNS
}

# step NAME SECONDS OUTPUT COMMAND...   with shown=TEXT, the summary has that as its command
# SECONDS is the expected time on a large GPU. The limit is three times that, but always leaves
# enough time for the remaining steps, so that a step that hangs does not prevent the others.
step() {
  local name=$1 expected_s=$2 output=$3 left_s limit_s status started=$SECONDS command why=
  shift 3
  if ((planning)); then
    planned_s=$((planned_s + expected_s))
    return
  fi
  command="${shown:-"$*"}"
  command="${command//"$here/"/}"
  command="${command//"$results/"/}"
  planned_s=$((planned_s - expected_s))
  left_s=$((whole_s - SECONDS - planned_s))
  if ((left_s < 1)); then
    worst=1
    add_step "{\"step\": \"$name\", \"not_run\": \"the time limit of the run is reached\"}"
    return
  fi
  limit_s=${LAB_STEP_SECONDS:-$((3 * expected_s))}
  limit_s=$((limit_s < left_s ? limit_s : left_s))
  timeout --kill-after=5 "$limit_s" "$@" >"$results/$output" 2>"$results/$name.log" </dev/null
  status=$?
  if ((status != 0)); then
    worst=1
    why=$(tail -n 1 -- "$results/$name.log")
    ((status != 124 && status != 137)) || why="not finished within $limit_s s"
    why=", \"why\": $(quoted "$why")"
  fi
  add_step "{\"step\": \"$name\", \"command\": $(quoted "$command"), \"status\": $status, \"seconds\": $((SECONDS - started))$(counts "$results/$output")$why}"
}

# Most important steps first. What measures time comes after training.py, which compiles before.
# Most transfer cases end long before --budget, as soon as their median is known; creating and
# comparing 1 GiB buffers dominates the time.
all_steps() {
  local test bench name dtype seed rows seconds ahead
  step devices 2 devices.jsonl "$lab" devices --json
  for test in "$here"/gpu_test_*; do
    name=${test##*/}
    step "$name" 7 "$name.out" "$test" "--gtest_output=json:$results/$name.json"
  done
  if [[ -n ${LAB_DATA_DIR:-} ]]; then
    for seed in 0 1 2; do
      step "train_seed$seed" 22 "train_seed$seed.jsonl" "$lab" train --model resnet18 \
        --devices cuda:0 --dtype tf32 --data fashion-mnist --seed "$seed" --json
    done
  fi
  for rows in compiled eager; do # compiling, for up to 300 s, would disturb other measurements
    [[ $rows == compiled ]] && seconds=120 || seconds=40
    shown="training.py device-lab $rows" step "training_$rows" "$seconds" "training_$rows.jsonl" bash -c "$measure_training" "$cache" "$rows"
    ((planning)) || end_preparation "$rows"
  done
  if [[ -n ${LAB_DATA_DIR:-} ]]; then
    step train_fast 5 train_fast.jsonl "$lab" train --preset fast \
      --devices cuda:0 --data fashion-mnist --stop-at 0.91 --json
    step train_accurate 8 train_accurate.jsonl "$lab" train --preset accurate \
      --devices cuda:0 --dtype bf16 --data fashion-mnist --stop-at 0.94 --json
  fi
  for ahead in 16 0; do # what it costs to read the loss in every step, against once for 16 steps
    step "steps_ahead_$ahead" 4 "steps_ahead_$ahead.jsonl" "$lab" train --model lenet --devices cuda:0 \
      --steps 2000 --steps-ahead "$ahead" --json
  done
  step transfer 8 transfer.jsonl "$lab" transfer --from cuda:0 --to cuda:0 --budget 0.1 --json
  step transfer_up 15 transfer_up.jsonl \
    "$lab" transfer --from cpu:0 --to cuda:0 --memory both --ops copy --budget 0.1 --json
  step transfer_down 15 transfer_down.jsonl \
    "$lab" transfer --from cuda:0 --to cpu:0 --memory both --ops copy --budget 0.1 --json
  step peers 15 peers.jsonl python3 "$here/peers.py"
  for dtype in f32 bf16 tf32; do
    step "matmul_$dtype" 10 "matmul_$dtype.jsonl" "$lab" matmul --devices cuda:0 \
      --sizes 8192,4096,2048,1024,512,256,128,64 --dtype "$dtype" --budget 0.1 --json
  done
  # Finds the size from which moving work to the GPU pays off: copies to, within and from the GPU,
  # and on the CPU, in one run.
  step payoff 6 payoff.jsonl \
    "$lab" transfer --devices cuda:0 --ops copy --sizes 64KiB..64MiB --budget 0.1 --json
  for bench in "$here"/gpu_bench_*; do
    [[ -x $bench ]] || continue
    name=${bench##*/}
    step "$name" 20 "$name.jsonl" "$bench"
  done
}

all_steps
planning=0
for rows in compiled eager; do prepare_training "$rows"; done
about="\"type\": \"run\", \"date\": \"$(date -u +%F)\", \"device_lab\": $(quoted "$("$lab" version | sed -n '1s/^device-lab //p')"), \"planned_s\": $planned_s"
all_steps
printf '%s: %d s, status %d\n' "$folder" "$SECONDS" "$worst"
exit "$worst"
