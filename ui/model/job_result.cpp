#include "ui/model/job_result.h"

#include <fmt/format.h>

#include <set>
#include <vector>

#include "compute/core/language.h"
#include "compute/core/units.h"

namespace lab::ui {

// The figures of the first device, and how many others have some.
std::string result_of(const TourResults& results) {
  std::vector<std::string> values;
  std::set<Device> others;
  for (const TourFigure& figure : results.figures) {
    if (!figure.missing.empty()) continue;
    if (figure.device == results.figures.front().device) {
      values.push_back(value_text(figure));
    } else {
      others.insert(figure.device);
    }
  }
  if (values.empty()) return "";
  std::string first =
      fmt::format("{} {}", lab::to_string(results.figures.front().device), fmt::join(values, ", "));
  if (others.empty()) return first;
  return others.size() == 1 ? trf("{}; 1 more device measured", first)
                            : trf("{}; {} more devices measured", first, others.size());
}

std::string result_of(const TransferResults& results) {
  const std::vector<std::int64_t> sizes = results.copy_sizes();
  if (sizes.empty()) return "";
  const TransferSample* best = nullptr;
  for (const auto& [from, to] : results.pairs()) {
    const TransferSample* copy = results.best_copy(from, to, sizes.back());
    if (copy != nullptr && (best == nullptr || copy->gb_per_s > best->gb_per_s)) best = copy;
  }
  if (best == nullptr) return "";
  const std::string rate = format_si(best->gb_per_s * 1e9, "B/s");
  return results.pairs().size() == 1
             ? trf("copies of {} at {}", format_bytes(best->bytes), rate)
             : trf("copies of {} at best {}, {} to {}", format_bytes(best->bytes), rate,
                   lab::to_string(best->from), lab::to_string(best->to));
}

std::string result_of(const MatmulResults& results) {
  if (const TogetherSpeedup* best = results.best_speedup()) {
    return trf("at best {:.2f} times as fast as one device, at N = {}", best->speedup, best->n);
  }
  const MatmulSample* best = nullptr;
  for (const KernelResults& kernel : results.kernels) {
    for (const MatmulSample& sample : kernel.samples) {
      if (best == nullptr || sample.gflops > best->gflops) best = &sample;
    }
  }
  if (best == nullptr) return "";
  return trf("at best {} by {} at N = {} on {}", format_si(best->gflops * 1e9, "FLOP/s"),
             best->kernel, best->n, lab::to_string(best->device));
}

std::string result_of(const ScalingResults& results) {
  if (!results.request.measure) return "";  // its measured points are of an earlier job
  const ScalingPoint *best = nullptr, *alone = nullptr;
  bool unsteady = false;
  for (const ScalingMode mode : {ScalingMode::Strong, ScalingMode::Weak}) {
    const ScalingCurve& curve = results.measured(mode);
    for (std::size_t i = 0; i < curve.points.size(); ++i) {
      const ScalingPoint& point = curve.points[i];
      if (point.devices == 1) alone = &point;
      if (point.devices < 2 || point.shares_cores) continue;
      if (best != nullptr && point.devices <= best->devices) continue;
      best = &point;
      unsteady = curve.is_unsteady(i);
    }
  }
  if (best != nullptr) {
    return unsteady
               ? trf("{:.2f} times as fast on {} devices, unsteady", best->speedup, best->devices)
               : trf("{:.2f} times as fast on {} devices", best->speedup, best->devices);
  }
  if (alone == nullptr) return "";
  return trf("{} images/s on one device", format_si(alone->images_per_s, ""));
}

std::string result_of(const TrainingRun& run) {
  if (!run.done()) return "";
  std::vector<std::string> parts;
  if (run.done()->test_acc) {
    parts.push_back(trf("test accuracy {:.1f} %", 100 * *run.done()->test_acc));
  }
  if (run.timed()) {
    parts.push_back(trf("{} images/s", format_si(run.done()->images_per_s, "")));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace lab::ui
