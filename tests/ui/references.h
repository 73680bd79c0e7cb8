#pragma once
// A made-up reference machine.
#include "compute/core/events/reference.h"
#include "tests/ui/events.h"

namespace lab::test {

// A CPU with f32 results for two kernels, bf16 results for one, and copies with 1 and 64 threads.
inline ReferenceMachine reference_machine() {
  ReferenceMachine m;
  m.key = "model.json";
  m.name = "Model machine";
  m.kind = DeviceKind::Cpu;
  m.date = "2026-01-31";
  m.lab = "0.1.0";
  m.commands = {"device-lab matmul --json"};
  for (int n = 32; n <= 1024; n *= 2) {
    m.matmul.push_back(matmul_sample(cpu(), "naive", n, 30));
    m.matmul.push_back(matmul_sample(cpu(), "onednn", n, 400));
    m.matmul.push_back(matmul_sample(cpu(), "simd", n, 200));
    m.matmul.back().dtype = Precision::BF16;
  }
  for (std::int64_t bytes = kKiB; bytes <= kMiB; bytes *= 4) {
    m.transfers.push_back(transfer_sample(cpu(), cpu(), TransferOp::Copy, 1, bytes, 12));
    m.transfers.push_back(transfer_sample(cpu(), cpu(), TransferOp::Copy, 64, bytes, 300));
  }
  return m;
}

}  // namespace lab::test
