#include "compute/core/events/roofline.h"

#include <algorithm>
#include <limits>

#include "compute/core/events/event.h"
#include "compute/core/language.h"

namespace lab {

std::string workers_text(int threads) {
  if (threads == 0) return tr("the whole GPU");
  return threads == 1 ? std::string(tr("1 thread")) : trf("{} threads", threads);
}

double compulsory_bytes(const MatmulSample& s) {
  const auto m = static_cast<double>(s.m), n = static_cast<double>(s.n),
             k = static_cast<double>(s.k);
  return static_cast<double>(size_of(storage_of(s.dtype))) * (m * k + k * n) +
         static_cast<double>(size_of(DType::F32)) * m * n;
}

double arithmetic_intensity(const MatmulSample& s) {
  const double bytes = compulsory_bytes(s);
  const double flop =
      2.0 * static_cast<double>(s.m) * static_cast<double>(s.n) * static_cast<double>(s.k);
  return bytes > 0 ? flop / bytes : 0;
}

const BandwidthCeiling* level_holding(std::span<const BandwidthCeiling> levels, double bytes) {
  for (const BandwidthCeiling& level : levels) {
    if (static_cast<double>(level.cache_bytes) >= bytes) return &level;
  }
  return levels.empty() ? nullptr : &levels.back();
}

Roof roof_over(const CeilingsMeasured& ceilings, const MatmulSample& sample, CacheState cache) {
  constexpr double kFarthest = std::numeric_limits<double>::infinity();
  Roof roof;
  roof.compute = highest_compute(ceilings, sample.dtype);
  roof.level = level_holding(ceilings.bandwidth,
                             cache == CacheState::Warm ? compulsory_bytes(sample) : kFarthest);
  if (roof.compute != nullptr) roof.gflops = roof.compute->gflops;
  if (roof.level == nullptr) return roof;
  const double by_memory = roof.level->gb_per_s * arithmetic_intensity(sample);
  if (roof.compute != nullptr && roof.gflops <= by_memory) return roof;
  roof.gflops = by_memory;
  roof.by_memory = true;
  return roof;
}

const ComputeCeiling* highest_compute(const CeilingsMeasured& ceilings, Precision dtype) {
  const ComputeCeiling *found = nullptr, *any = nullptr;
  for (const ComputeCeiling& c : ceilings.compute) {
    if (any == nullptr || c.gflops > any->gflops) any = &c;
    if (c.dtype == dtype && (found == nullptr || c.gflops > found->gflops)) found = &c;
  }
  return found != nullptr ? found : any;
}

double ridge(const CeilingsMeasured& ceilings, const BandwidthCeiling& level, Precision dtype) {
  const ComputeCeiling* top = highest_compute(ceilings, dtype);
  return top != nullptr && level.gb_per_s > 0 ? top->gflops / level.gb_per_s : 0;
}

}  // namespace lab
