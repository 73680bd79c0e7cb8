#include "ui/model/job_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "compute/core/language.h"
#include "compute/core/units.h"
#include "ui/model/scaling_results.h"

namespace lab::ui {
namespace {

template <typename Measured>
std::string with_steadiness(const std::string& text, const Measured& measured) {
  return is_unsteady(measured) ? trf("{}, unsteady", text) : text;
}

// The result of the first device, and how many others have one.
std::string with_other_devices(const std::string& first, std::size_t others) {
  if (others == 0) return first;
  return others == 1 ? trf("{}; 1 more device measured", first)
                     : trf("{}; {} more devices measured", first, others);
}

}  // namespace

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
  const std::string first =
      fmt::format("{} {}", lab::to_string(results.figures.front().device), fmt::join(values, ", "));
  return with_other_devices(first, others.size());
}

namespace {

// The fastest sample of any operation: "read cpu:0, 2 threads, arrays of 1.00 MiB, at 31.2 GB/s".
std::string fastest_transfer(const TransferResults& results) {
  const TransferCase* of = nullptr;
  const MeasuredTransfer* best = nullptr;
  for (const TransferCase& c : results.cases) {
    for (const MeasuredTransfer& s : c.samples) {
      if (best != nullptr && s.gb_per_s <= best->gb_per_s) continue;
      best = &s;
      of = &c;
    }
  }
  if (best == nullptr) return "";
  return with_steadiness(trf("{}, arrays of {}, at {}", of->label(true), format_bytes(best->bytes),
                             format_si(best->gb_per_s * 1e9, "B/s")),
                         *best);
}

}  // namespace

std::string result_of(const TransferResults& results) {
  const std::vector<std::int64_t>& sizes = results.copy_sizes();
  if (sizes.empty()) return fastest_transfer(results);
  const MeasuredTransfer* best = nullptr;
  for (const auto& [from, to] : results.pairs()) {
    const MeasuredTransfer* copy = results.best_copy(from, to, sizes.back());
    if (copy != nullptr && (best == nullptr || copy->gb_per_s > best->gb_per_s)) best = copy;
  }
  if (best == nullptr) return "";
  const std::string rate = format_si(best->gb_per_s * 1e9, "B/s");
  return with_steadiness(results.pairs().size() == 1
                             ? trf("copies of {} at {}", format_bytes(best->bytes), rate)
                             : trf("copies of {} at best {}, {} to {}", format_bytes(best->bytes),
                                   rate, lab::to_string(best->from), lab::to_string(best->to)),
                         *best);
}

std::string result_of(const MatmulResults& results, const std::vector<RungInfo>& rungs) {
  if (const TogetherSpeedup* best = results.best_speedup()) {
    return trf("at best {:.2f} times as fast as one device, at N = {}", best->speedup, best->n);
  }
  if (!results.speedups.empty()) return tr("too unsteady for a speed-up");
  // As the page's sentence on the first device: the lab's fastest kernel at the largest size, or
  // without one a library.
  const std::vector<Device> devices = results.devices();
  const MatmulSample* best = nullptr;
  bool library = false;
  for (const KernelResults& kernel : results.kernels) {
    if (kernel.device != devices.front()) continue;
    const MatmulSample* sample = kernel.at(results.largest_size(kernel.device));
    if (sample == nullptr || (best != nullptr && kernel.library && !library)) continue;
    if (best == nullptr || (library && !kernel.library) || sample->gflops > best->gflops) {
      best = sample;
      library = kernel.library;
    }
  }
  if (best == nullptr) return "";
  const auto rung = std::ranges::find(rungs, best->kernel, &RungInfo::name);
  const bool titled = rung != rungs.end() && !rung->title.empty();
  return with_other_devices(
      with_steadiness(
          trf("{} by {} at N = {} on {}", format_si(best->gflops * 1e9, "FLOP/s"),
              titled ? tr(rung->title) : best->kernel, best->n, lab::to_string(best->device)),
          best->time),
      devices.size() - 1);
}

namespace {

std::string predicted_result(const ScalingResults& results) {
  for (const ScalingMode mode : {ScalingMode::Strong, ScalingMode::Weak}) {
    const PredictedCurve& curve = results.predicted(mode);
    if (curve.points.empty()) continue;
    if (!results.withheld(mode).empty()) return tr("the prediction is withheld");
    const ScalingPrediction& last = curve.points.back();
    return trf("{:.2f} times as fast on {} devices, predicted", last.speedup, last.devices);
  }
  return "";
}

}  // namespace

std::string result_of(const ScalingResults& results) {
  // The measured points of a prediction are of an earlier job.
  if (!results.request.measure) return predicted_result(results);
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
  std::vector<std::string> parts;
  if (run.diverged_at()) parts.push_back(trf("diverged at step {}", *run.diverged_at()));
  if (run.done() && run.done()->test_acc) {
    parts.push_back(trf("test accuracy {:.1f} %", 100 * *run.done()->test_acc));
  } else if (run.steps().size() > 0) {
    parts.push_back(
        trf("loss {:.3g} after step {:.0f}", run.steps().loss.back(), run.steps().step.back()));
  }
  if (run.done() && run.timed()) {
    parts.push_back(trf("{} images/s", run.speed_text()));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string result_of(const LessonRun& run) {
  return run.done ? run.done->sentence : "";
}

}  // namespace lab::ui
