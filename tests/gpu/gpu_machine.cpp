#include "tests/gpu/gpu_machine.h"

#include "compute/cuda/open_gpus.h"

namespace lab::test {

Machine& gpu_machine() {
  static Machine machine({.open_gpus = open_gpus});
  return machine;
}

std::string why_no_gpu(int cards) {
  Machine& machine = gpu_machine();
  if (machine.num_gpus() >= cards) return {};
  if (machine.num_gpus() > 0) {
    return "this needs " + std::to_string(cards) + " cards; the machine has " +
           std::to_string(machine.num_gpus());
  }
  const auto& absent = machine.info().absent;
  return absent.empty() ? "no card" : absent.front().what + ": " + absent.front().reason;
}

}  // namespace lab::test
