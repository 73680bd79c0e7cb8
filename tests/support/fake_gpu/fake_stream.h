#pragma once
// Streams and events of a fake GPU. Work executes immediately; its simulated duration advances the
// stream's clock, which events read.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "compute/gpu/gpu_transfers.h"
#include "tests/support/fake_gpu/fake_gpu.h"

namespace lab::test {

class FakeStream final : public GpuStream {
 public:
  explicit FakeStream(FakeGpu& gpu) : gpu_(gpu) {}
  void synchronise() override {
    gpu_.enter("synchronise");
    EXPECT_FALSE(gated()) << "waits behind a gate that was never opened";
  }
  void wait(const GpuEvent& event) override;
  void* native() override { return nullptr; }

  // Queues work of the given simulated duration.
  void spend(double seconds) {
    now_s_ += seconds;
    count();
  }
  // Counts an operation behind a closed gate; called for events and waits too.
  void count() {
    if (gated()) {
      EXPECT_LE(++queued_, kMaxBehindGate) << "the driver would block on the closed gate";
    }
  }
  double now_s() const { return now_s_; }
  bool gated() const { return closed_ != nullptr && *closed_; }
  void hold(std::shared_ptr<const bool> closed) {
    closed_ = std::move(closed);
    queued_ = 1;  // the gate
  }

 private:
  FakeGpu& gpu_;
  double now_s_ = 0;
  int queued_ = 0;
  std::shared_ptr<const bool> closed_;
};

class FakeEvent final : public GpuEvent {
 public:
  explicit FakeEvent(FakeGpu& gpu) : gpu_(gpu) {}
  void record(GpuStream& stream) override {
    gpu_.enter("record");
    auto& queue = static_cast<FakeStream&>(stream);
    queue.count();
    at_s_ = queue.now_s();
  }
  bool done() const override { return true; }
  void synchronise() const override { gpu_.enter("synchronise"); }
  double seconds_since(const GpuEvent& earlier) const override {
    return at_s_ - static_cast<const FakeEvent&>(earlier).at_s_;
  }
  double at_s() const { return at_s_; }

 private:
  FakeGpu& gpu_;
  double at_s_ = 0;
};

inline void FakeStream::wait(const GpuEvent& event) {
  gpu_.enter("wait");
  count();
  now_s_ = std::max(now_s_, static_cast<const FakeEvent&>(event).at_s());
}

inline void spend(GpuStream& stream, double seconds) {
  static_cast<FakeStream&>(stream).spend(seconds);
}

}  // namespace lab::test
