#pragma once
// Test fixture: a machine with two fake GPUs backed by host memory, and the results of a transfer
// sweep.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compute/core/units.h"
#include "compute/experiments/transfers/transfer_experiment.h"
#include "tests/support/fake_gpu/fake_gpu.h"
#include "tests/support/probe.h"

namespace lab::test {

inline constexpr auto kEngine = TransferMover::CopyEngine;
inline constexpr auto kKernel = TransferMover::Kernel;

struct TransferOnGpu : ::testing::Test {
  std::shared_ptr<FakeBackend> fake = std::make_shared<FakeBackend>(2, 64 * kMiB);
  Probe probe{MachineOptions{.open_gpus = test::backend_opener(fake)}};

  StartTransfers request(std::vector<Device> from, std::vector<Device> to) const {
    StartTransfers r;
    r.from = std::move(from);
    r.to = std::move(to);
    r.sizes_bytes = {kKiB, 64 * kKiB, 512 * kKiB};
    r.budget_s = 0.01;
    return r;
  }
  void run(const StartTransfers& r) { probe.run(*make_transfer_experiment(r)); }

  std::vector<TransferSample> samples(TransferOp op, TransferMover mover,
                                      MemoryKind memory = MemoryKind::OnGpu,
                                      PeerMode peer = PeerMode::None) const {
    std::vector<TransferSample> found;
    for (const TransferSample& s : probe.all<TransferSample>()) {
      if (s.op == op && s.mover == mover && s.memory == memory && s.peer == peer) {
        found.push_back(s);
      }
    }
    return found;
  }
  std::string reason(const std::string& what) const {
    for (const Skipped& s : probe.all<Skipped>()) {
      if (s.what == what) return s.reason;
    }
    ADD_FAILURE() << "not skipped: " << what;
    return {};
  }
  void expect_all_given_back() {
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(fake->gpu(i).used_bytes(), 0);
      EXPECT_EQ(probe.machine.at(gpu(i)).memory().used_bytes(), 0);
    }
    EXPECT_EQ(probe.machine.at(cpu()).memory().used_bytes(), 0);
  }
};

}  // namespace lab::test
