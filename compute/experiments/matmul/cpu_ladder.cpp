#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "compute/experiments/matmul/bandwidth.h"
#include "compute/experiments/matmul/cpu_site.h"
#include "compute/experiments/matmul/device_ladder.h"
#include "compute/experiments/matmul/rung.h"
#include "compute/kernels/gemm/bf16_kernels.h"
#include "compute/kernels/gemm/peak.h"
#include "compute/machine/simd_level.h"

namespace lab {
namespace {

class CpuLadder final : public DeviceLadder {
 public:
  CpuLadder(DeviceContext& device, Precision precision)
      : device_(device), precision_(precision), bound_(device.threads().bind_caller()) {}

  std::string remark() const override {
    if (precision_ != Precision::BF16 || bf16_kernels().native) return {};
    return fmt::format(
        "no AVX512-BF16 instructions on {}: {}; our rungs widen bf16 to f32 where they multiply, "
        "which saves memory but no arithmetic",
        to_string(device_.device()), why_no_avx512_bf16());
  }

  std::vector<PeakSample> peaks(const MeasureOptions& options) override {
    ThreadPool& pool = device_.threads();
    std::vector<PeakSample> found;
    for (ThreadPool* threads : {static_cast<ThreadPool*>(nullptr), &pool}) {
      if (threads != nullptr && pool.size() == 1) continue;
      found.push_back(measure_peak(device_.device(), threads, options, precision_));
    }
    return found;
  }

  const MeasuredBandwidths& bandwidths(const std::stop_token& stop) override {
    return bandwidths_of(device_, stop);
  }

  std::unique_ptr<MatmulSite> site(RunContext& ctx, const std::vector<std::string>& names,
                                   const CaseSettings& settings) override {
    std::vector<const Rung*> rungs;
    for (const Rung& rung : cpu_ladder()) {
      if (std::find(names.begin(), names.end(), rung.name) != names.end()) rungs.push_back(&rung);
    }
    if (settings.cold && !flusher_) {
      flusher_.emplace(device_.threads(), last_level_cache_bytes(device_.info()));
    }
    return std::make_unique<CpuSite>(ctx, device_, std::move(rungs), settings,
                                     flusher_ ? &*flusher_ : nullptr);
  }

 private:
  DeviceContext& device_;
  const Precision precision_;
  const ThreadPool::Guard bound_;
  std::optional<CacheFlusher> flusher_;
};

}  // namespace

std::vector<LadderRung> cpu_ladder_rungs(Device device, Precision precision) {
  std::vector<LadderRung> found;
  for (const Rung& rung : cpu_ladder()) {
    const bool bf16 = precision == Precision::BF16 && rung.run_bf16 != nullptr;
    LadderRung& one = found.emplace_back();
    one.info = {device,       rung.name,
                rung.title,   bf16 ? rung.bf16_sentence : rung.sentence,
                rung.library, {Precision::F32}};
    if (rung.run_bf16 != nullptr) one.info.takes.push_back(Precision::BF16);
    one.best = std::string_view(rung.name) == kBestCpuRung;
    if (precision == Precision::F32 || bf16) continue;
    one.unfit = precision == Precision::TF32
                    ? "only GPUs multiply in tf32; choose f32 or bf16 here"
                    : fmt::format("this rung computes in f32; {} is not available on it",
                                  to_string(precision));
  }
  return found;
}

std::vector<LadderRung> ladder_rungs(DeviceContext& device, Precision precision,
                                     std::span<const std::int64_t> sizes) {
  return device.gpu() == nullptr ? cpu_ladder_rungs(device.device(), precision)
                                 : gpu_ladder_rungs(device, precision, sizes);
}

std::unique_ptr<DeviceLadder> make_cpu_ladder(DeviceContext& device, Precision precision) {
  return std::make_unique<CpuLadder>(device, precision);
}

std::unique_ptr<DeviceLadder> make_ladder(Machine& machine, Device device, Precision precision) {
  DeviceContext& context = machine.at(device);
  return context.gpu() == nullptr ? make_cpu_ladder(context, precision)
                                  : make_gpu_ladder(machine, context, precision);
}

}  // namespace lab
