#pragma once
// Products on the threads of a CPU device.
#include <memory>
#include <optional>
#include <stop_token>

#include "compute/experiments/matmul/host_matrices.h"
#include "compute/experiments/matmul/matmul_site.h"
#include "compute/experiments/matmul/rung.h"
#include "compute/measure/cache_flusher.h"

namespace lab {

class CpuSite final : public MatmulSite {
 public:
  // Every rung must have a function for the settings' precision. The calling thread must be bound
  // to the device's threads and be the one that uses the site. `flusher` is called where the
  // settings are cold. Throws Error(OutOfMemory), Error(Cancelled).
  CpuSite(RunContext& ctx, DeviceContext& device, std::vector<const Rung*> rungs,
          const CaseSettings& settings, CacheFlusher* flusher);

  const std::vector<SiteRung>& rungs() const override { return names_; }
  // A rung that would take too long, or whose library does not support this processor.
  std::optional<std::string> refusal(std::size_t rung) override;
  MatmulCheck prove(std::size_t rung) override;
  double time(std::size_t rung, std::int64_t times) override;
  void rest() override;
  MeasureOptions options() override;
  Conditions conditions() const override;

 private:
  // The first `rows` rows.
  void run(const Rung& rung, std::int64_t rows);
  double time_rows(const Rung& rung, std::int64_t rows);
  std::optional<std::string> too_slow(const Rung& rung);
  std::optional<std::string> unsupported(const Rung& rung);

  RunContext& ctx_;
  DeviceContext& device_;
  const CaseSettings settings_;
  const std::stop_token stop_;
  const std::vector<const Rung*> rungs_;
  std::vector<SiteRung> names_;
  CacheFlusher* const flusher_;
  HostMatrices matrices_;
};

}  // namespace lab
