#include "tests/gpu/gpu_machine.h"

#include <memory>

#include "compute/gpu/cuda/open_gpus.h"

namespace lab::test {
namespace {

std::unique_ptr<Machine>& the_machine() {
  static std::unique_ptr<Machine> machine;
  return machine;
}

struct EndMachine final : ::testing::Environment {
  void TearDown() override { end_gpu_machine(); }
};

const ::testing::Environment* const kEndMachine =
    ::testing::AddGlobalTestEnvironment(new EndMachine);

}  // namespace

Machine& gpu_machine() {
  if (the_machine() == nullptr) {
    the_machine() = std::make_unique<Machine>(MachineOptions{.open_gpus = open_gpus});
  }
  return *the_machine();
}

void end_gpu_machine() {
  the_machine().reset();
}

std::string why_no_gpu(int gpus) {
  Machine& machine = gpu_machine();
  if (machine.num_gpus() >= gpus) return {};
  if (machine.num_gpus() > 0) {
    return "this needs " + std::to_string(gpus) + " GPUs; the machine has " +
           std::to_string(machine.num_gpus());
  }
  const auto& absent = machine.info().absent;
  return absent.empty() ? "no GPU" : absent.front().what + ": " + absent.front().reason;
}

}  // namespace lab::test
