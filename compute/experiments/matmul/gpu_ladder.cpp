#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>

#include "compute/experiments/matmul/device_ladder.h"
#include "compute/experiments/matmul/gpu_ceilings.h"
#include "compute/experiments/matmul/gpu_rung.h"
#include "compute/experiments/matmul/gpu_site.h"

namespace lab {
namespace {

class GpuLadder final : public DeviceLadder {
 public:
  GpuLadder(Machine& machine, DeviceContext& device, Precision precision)
      : host_(machine.at(cpu())), device_(device), precision_(precision) {}

  std::string remark() const override { return {}; }

  std::vector<PeakSample> peaks(const MeasureOptions& options) override {
    const auto peak = measure_gpu_peak(device_, precision_, options);
    return peak ? std::vector{*peak} : std::vector<PeakSample>{};
  }

  const MeasuredBandwidths& bandwidths(const std::stop_token& stop) override {
    return gpu_bandwidths_of(device_, stop);
  }

  std::unique_ptr<MatmulSite> site(RunContext& ctx, const std::vector<std::string>& names,
                                   const CaseSettings& settings) override {
    std::vector<const GpuRung*> rungs;
    for (const GpuRung& rung : device_.gpu()->matmul().rungs()) {
      const bool asked = std::find(names.begin(), names.end(), rung.name) != names.end();
      if (asked && rung.precision == precision_) rungs.push_back(&rung);
    }
    if (clock_ == nullptr) clock_ = std::make_unique<GatedClock>(*device_.gpu(), 1);
    return std::make_unique<GpuSite>(ctx, host_, device_, *clock_, std::move(rungs), settings);
  }

 private:
  DeviceContext& host_;
  DeviceContext& device_;
  const Precision precision_;
  std::unique_ptr<GatedClock> clock_;
};

}  // namespace

namespace {

// As the experiment's matrices lie.
GpuProduct square(std::int64_t n) {
  return {.m = n, .n = n, .k = n, .lda = n, .ldb = n, .ldc = n};
}

}  // namespace

// A name is one rung, however many precisions it has.
std::vector<LadderRung> gpu_ladder_rungs(DeviceContext& device, Precision precision,
                                         std::span<const std::int64_t> sizes) {
  GpuDevice& gpu = *device.gpu();
  std::set<const GpuRung*> best;  // of any of the sizes
  for (const std::int64_t n : sizes) best.insert(gpu_rung_for(gpu, precision, square(n)));
  std::vector<LadderRung> found;
  for (const GpuRung& rung : gpu.matmul().rungs()) {
    auto one = std::find_if(found.begin(), found.end(),
                            [&](const LadderRung& other) { return other.info.name == rung.name; });
    const bool first = one == found.end();
    if (first) {
      one = found.emplace(found.end());
      one->info = {device.device(), rung.name, "", "", rung.library, {}};
      one->unfit = fmt::format("this rung multiplies in {}", to_string(rung.precision));
      one->if_named = true;
    }
    one->info.takes.push_back(rung.precision);
    const bool fit = rung.precision == precision;
    if (first || fit) {
      one->info.title = rung.title;
      one->info.sentence = rung.sentence;
    }
    if (!fit) continue;
    one->unfit.clear();
    one->if_named = false;
    one->best = best.contains(&rung);
  }
  return found;
}

std::unique_ptr<DeviceLadder> make_gpu_ladder(Machine& machine, DeviceContext& device,
                                              Precision precision) {
  return std::make_unique<GpuLadder>(machine, device, precision);
}

}  // namespace lab
