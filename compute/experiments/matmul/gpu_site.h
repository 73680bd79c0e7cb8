#pragma once
// Products on a GPU, timed by its own events behind a gate, so that queueing them does not count.
// Source  method: NVIDIA nvbandwidth
#include <optional>

#include "compute/experiments/matmul/host_matrices.h"
#include "compute/experiments/matmul/matmul_site.h"
#include "compute/gpu/gpu_matmul.h"
#include "compute/measure/gated_clock.h"

namespace lab {

class GpuSite final : public MatmulSite {
 public:
  // The GPU's operands are those of the same case on `host`, copied. Rungs are of the settings'
  // precision. `clock` is the GPU's, with one stream: libraries keep memory for each stream, so
  // all sites share it. Throws Error(OutOfMemory), Error(Cancelled).
  GpuSite(RunContext& ctx, DeviceContext& host, DeviceContext& device, GatedClock& clock,
          std::vector<const GpuRung*> rungs, const CaseSettings& settings);
  ~GpuSite() override;

  const std::vector<SiteRung>& rungs() const override { return names_; }
  // A rung that does not take this product, is not installed, or would take too long.
  std::optional<std::string> refusal(std::size_t rung) override;
  MatmulCheck prove(std::size_t rung) override;
  double time(std::size_t rung, std::int64_t times) override;
  void rest() override {}
  MeasureOptions options() override;
  Conditions conditions() const override;

 private:
  GpuProduct product(std::int64_t rows);
  std::optional<std::string> too_slow(const GpuRung& rung);
  void run(const GpuRung& rung, std::int64_t rows, GpuStream& stream);
  void poison();
  void empty_caches();

  RunContext& ctx_;
  GpuDevice& gpu_;
  const CaseSettings settings_;
  const std::vector<const GpuRung*> rungs_;
  std::vector<SiteRung> names_;
  HostMatrices host_;
  Tensor a_, b_, c_;  // on the GPU
  Tensor flushed_;    // undefined where caches stay warm
  GatedClock& clock_;
};

}  // namespace lab
