#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>

#include "compute/experiments/matmul/card_ceilings.h"
#include "compute/experiments/matmul/card_rung.h"
#include "compute/experiments/matmul/card_site.h"
#include "compute/experiments/matmul/device_ladder.h"

namespace lab {
namespace {

class CardLadder final : public DeviceLadder {
 public:
  CardLadder(Machine& machine, DeviceContext& device, Precision precision)
      : host_(machine.at(cpu())), device_(device), precision_(precision) {}

  std::string remark() const override { return {}; }

  std::vector<PeakSample> peaks(const MeasureOptions& options) override {
    const auto peak = measure_card_peak(device_, precision_, options);
    return peak ? std::vector{*peak} : std::vector<PeakSample>{};
  }

  const MeasuredBandwidths& bandwidths(const std::stop_token& stop) override {
    return card_bandwidths_of(device_, stop);
  }

  std::unique_ptr<MatmulSite> site(RunContext& ctx, const std::vector<std::string>& names,
                                   const CaseSettings& settings) override {
    std::vector<const GpuRung*> rungs;
    for (const GpuRung& rung : device_.card()->matmul().rungs()) {
      const bool asked = std::find(names.begin(), names.end(), rung.name) != names.end();
      if (asked && rung.precision == precision_) rungs.push_back(&rung);
    }
    if (clock_ == nullptr) clock_ = std::make_unique<GatedClock>(*device_.card(), 1);
    return std::make_unique<CardSite>(ctx, host_, device_, *clock_, std::move(rungs), settings);
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
std::vector<LadderRung> card_ladder_rungs(DeviceContext& device, Precision precision,
                                          std::span<const std::int64_t> sizes) {
  GpuDevice& card = *device.card();
  std::set<const GpuRung*> best;  // of any of the sizes
  for (const std::int64_t n : sizes) best.insert(card_rung_for(card, precision, square(n)));
  std::vector<LadderRung> found;
  for (const GpuRung& rung : card.matmul().rungs()) {
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

std::unique_ptr<DeviceLadder> make_card_ladder(Machine& machine, DeviceContext& device,
                                               Precision precision) {
  return std::make_unique<CardLadder>(machine, device, precision);
}

}  // namespace lab
