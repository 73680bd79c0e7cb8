#pragma once
// The GpuMatmul of a fake GPU, with the rungs of a real one.
#include <map>
#include <string>

#include "compute/gpu/gpu_matmul.h"

namespace lab::test {

class FakeGpu;

class FakeMatmul final : public GpuMatmul {
 public:
  explicit FakeMatmul(FakeGpu& gpu) : gpu_(gpu) {}

  // Rungs that reject every product: name to reason.
  std::map<std::string, std::string> refusals;
  // Name of the rung that computes one element of C incorrectly.
  std::string wrong;
  bool no_peak = false;  // as if the GPU had no instructions for any precision

  std::span<const RungInfo> rungs() const override;
  std::optional<std::string> unsupported(const RungInfo& rung, const GpuProduct& product) override;
  void run(const RungInfo& rung, const GpuProduct& product, GpuStream& stream) override;
  std::optional<double> run_peak(Precision precision, std::int64_t rounds,
                                 GpuStream& stream) override;

 private:
  FakeGpu& gpu_;
};

}  // namespace lab::test
