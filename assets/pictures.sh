#!/usr/bin/env bash
# Takes the pictures of the README files again, on a quiet machine with two cores or more; some minutes.
#   assets/pictures.sh DEVICE_LAB [NAME...]      without names: all
# Needs Xvfb, and Fashion-MNIST in one of the default folders.
set -euo pipefail
assets=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
lab=$(realpath -- "${1:?usage: pictures.sh DEVICE_LAB [NAME...]}")
shift
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT

# picture NAME SIZE CPU_DEVICES, with the script's lines on standard input
picture() {
  { cat; printf '{"screenshot":"%s"}\n' "$assets/$1.png"; } >"$home/$1.jsonl"
  HOME=$home xvfb-run -a -s "-screen 0 1920x1400x24" "$lab" --cpu-devices "$3" --size "$2" --language en \
    --script "$home/$1.jsonl"
}

two_trainings() {
  cat <<'EOF'
{"click":"rail/training"}
{"click":"training/data/Fashion-MNIST"}
{"set":"training/epochs","value":"4"}
{"click":"training/device/cpu:0"}
{"click":"training/device/cpu:1"}
{"click":"training/start"}
{"wait":"idle"}
{"set":"training/lr","value":"0.5"}
{"click":"training/start"}
{"wait":"idle"}
EOF
}

screenshot() {
  two_trainings | picture screenshot 1600x1000 2
}
training_two_devices() {
  {
    two_trainings
    cat <<'EOF'
{"hover":"training/accuracy"}
{"scroll":-5}
{"hover":"title/page"}
{"wait":1}
EOF
  } | picture training-two-devices 1600x1000 2
}
tour() {
  picture tour 1600x740 2 <<'EOF'
{"click":"tour/measure"}
{"wait":"idle"}
{"wait":2}
EOF
}
scaling() {
  picture scaling 1600x1000 2 <<'EOF'
{"click":"rail/scaling"}
{"click":"scaling/run"}
{"wait":"idle"}
{"wait":1}
EOF
}
layers() {
  picture layers 1600x1150 1 <<'EOF'
{"click":"rail/training"}
{"set":"training/model","value":"ResNet-18"}
{"set":"training/synthetic_train","value":"2560"}
{"set":"training/synthetic_test","value":"256"}
{"set":"training/batch","value":"64"}
{"set":"training/epochs","value":"1"}
{"click":"training/more"}
{"hover":"training/order"}
{"scroll":-20}
{"click":"training/kernels/Both"}
{"scroll":40}
{"click":"training/start"}
{"wait":"idle"}
{"hover":"training/layers_sentence"}
{"scroll":-9}
{"hover":"title/page"}
{"wait":1}
EOF
}
roofline() {
  picture roofline 1600x1400 2 <<'EOF'
{"click":"rail/matmul"}
{"click":"matmul/run"}
{"wait":"idle"}
{"wait":1}
EOF
}

(($# > 0)) || set -- screenshot training-two-devices tour scaling layers roofline
for name in "$@"; do "${name//-/_}"; done
