#include "ui/model/job_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "compute/core/language.h"
#include "compute/core/units.h"
#include "ui/model/live_rate.h"
#include "ui/model/scaling_results.h"

namespace lab::ui {
namespace {

template <typename Measured>
std::string with_steadiness(const std::string& text, const Measured& measured) {
  return is_unsteady(measured) ? trf("{}, unsteady", text) : text;
}

// The result of the first device, and which others have one, or of many, how many.
std::string with_other_devices(const std::string& first, const std::vector<std::string>& others) {
  constexpr std::size_t kMostNamed = 3;
  if (others.empty()) return first;
  return others.size() <= kMostNamed
             ? trf("{}; also measured: {}", first, fmt::join(others, tr(", ")))
             : trf("{}; {} more devices measured", first, others.size());
}

// "cpu:0 118 GFLOP/s, 32.0 GB/s"; empty without a figure.
std::string figures_of(const TourResults& results, Device device, bool with_marks) {
  std::vector<std::string> values;
  for (const TourFigure& figure : results.figures) {
    if (figure.device != device || !figure.missing.empty()) continue;
    const std::string value = value_text(figure);
    values.push_back(with_marks && is_unsteady(figure) ? trf("{} (unsteady)", value) : value);
  }
  if (values.empty()) return "";
  return fmt::format("{} {}", lab::to_string(device), fmt::join(values, ", "));
}

std::vector<Device> devices_of(const TourResults& results) {
  std::vector<Device> devices;
  for (const TourFigure& figure : results.figures) {
    if (std::ranges::find(devices, figure.device) == devices.end()) {
      devices.push_back(figure.device);
    }
  }
  return devices;
}

// Names the unsteady figures, or of many, how many they are; empty if there is none.
std::string unsteady_figures(const TourResults& results) {
  constexpr std::size_t kMostNamed = 3;
  std::vector<std::string> names;
  for (const TourFigure& figure : results.figures) {
    if (!is_unsteady(figure)) continue;
    names.push_back(
        fmt::format("{} {}", lab::to_string(figure.device), tr(label_of(figure.question))));
  }
  if (names.empty()) return "";
  return names.size() <= kMostNamed ? trf("unsteady: {}", fmt::join(names, ", "))
                                    : trf("{} figures unsteady", names.size());
}

// "cpu:0 118 GFLOP/s, cpu:1 117 GFLOP/s", of many devices the first; the figure in the headline of
// the page. Empty without several.
std::string peaks_of(const TourResults& results) {
  constexpr std::size_t kMostNamed = 4;
  std::vector<std::string> peaks;
  for (const Device device : devices_of(results)) {
    const TourFigure* peak = results.find(device, TourQuestion::Peak);
    if (peak == nullptr || !peak->missing.empty()) continue;
    peaks.push_back(fmt::format("{} {}", lab::to_string(device), value_text(*peak)));
  }
  if (peaks.size() < 2) return "";
  if (peaks.size() <= kMostNamed) return fmt::format("{}", fmt::join(peaks, tr(", ")));
  return trf("{}; {} more devices measured", peaks.front(), peaks.size() - 1);
}

}  // namespace

std::string result_of(const TourResults& results) {
  if (std::string peaks = peaks_of(results); !peaks.empty()) {
    const std::string unsteady = unsteady_figures(results);
    return unsteady.empty() ? peaks : peaks + "; " + unsteady;
  }
  std::string first;
  std::vector<std::string> others;
  for (const Device device : devices_of(results)) {
    const std::string figures = figures_of(results, device, false);
    if (figures.empty()) continue;
    if (first.empty()) {
      first = figures;
    } else {
      others.push_back(lab::to_string(device));
    }
  }
  if (first.empty()) return "";
  const std::string unsteady = unsteady_figures(results);
  if (!unsteady.empty()) first.append("; ").append(unsteady);
  return with_other_devices(first, others);
}

std::vector<std::string> results_by_device(const TourResults& results) {
  const std::vector<Device> devices = devices_of(results);
  std::vector<std::string> lines;
  if (devices.size() < 2) return lines;
  for (const Device device : devices) {
    std::string line = figures_of(results, device, true);
    if (!line.empty()) lines.push_back(std::move(line));
  }
  return lines;
}

bool is_unsteady(const TourResults& results) {
  return std::ranges::any_of(results.figures,
                             [](const TourFigure& figure) { return is_unsteady(figure); });
}

namespace {

// The sample that stands for a run of transfers.
struct BestTransfer {
  const TransferCase* of = nullptr;  // null for a copy
  const MeasuredTransfer* sample = nullptr;
};

BestTransfer best_transfer(const TransferResults& results) {
  BestTransfer best;
  const std::vector<std::int64_t>& sizes = results.copy_sizes();
  const auto offer = [&](const TransferCase* of, const MeasuredTransfer* sample) {
    if (sample == nullptr) return;
    if (best.sample == nullptr || sample->gb_per_s > best.sample->gb_per_s) best = {of, sample};
  };
  if (!sizes.empty()) {
    for (const auto& [from, to] : results.pairs()) {
      offer(nullptr, results.best_copy(from, to, sizes.back()));
    }
    return best;
  }
  for (const TransferCase& c : results.cases) {
    for (const MeasuredTransfer& s : c.samples) offer(&c, &s);
  }
  return best;
}

}  // namespace

namespace {

// The case of a live run; null without samples of one.
const TransferCase* live_case(const TransferResults& results) {
  const bool any = results.request.live && !results.cases.empty() &&
                   !results.cases.front().live_gb_per_s.empty();
  return any ? &results.cases.front() : nullptr;
}

// "copy cpu:0, 1 thread, arrays of 1.00 MiB, at 96.7 GB/s (median)"
std::string live_result(const TransferCase& c) {
  const LiveRate rate = live_rate(c.live_gb_per_s);
  const std::string text = trf("{}, arrays of {}, at {} (median)", c.label(true),
                               format_bytes(c.samples.back().bytes), format_gb_per_s(rate.median));
  return rate.varies() ? trf("{}, unsteady", text) : text;
}

}  // namespace

// A case is named as in "read cpu:0, 2 threads, arrays of 1.00 MiB, at 31.2 GB/s".
std::string result_of(const TransferResults& results) {
  if (const TransferCase* const live = live_case(results)) return live_result(*live);
  const auto [of, best] = best_transfer(results);
  if (best == nullptr) return "";
  const std::string rate = format_gb_per_s(best->gb_per_s);
  const std::string size = format_bytes(best->bytes);
  return with_steadiness(
      of != nullptr                 ? trf("{}, arrays of {}, at {}", of->label(true), size, rate)
      : results.pairs().size() == 1 ? trf("copies of {} at {}", size, rate)
      : best->from == best->to
          ? trf("copies of {} at best {}, within {}", size, rate, lab::to_string(best->from))
          : trf("copies of {} at best {}, {} to {}", size, rate, lab::to_string(best->from),
                lab::to_string(best->to)),
      *best);
}

bool is_unsteady(const TransferResults& results) {
  if (const TransferCase* const live = live_case(results)) {
    return live_rate(live->live_gb_per_s).varies();
  }
  const MeasuredTransfer* best = best_transfer(results).sample;
  return best != nullptr && is_unsteady(*best);
}

namespace {

// The fastest of the lab's own kernels or of the libraries at the largest size. One that had time
// for few repetitions yields to others. Null without a sample.
const MatmulSample* best_product(const MatmulResults& results, Device device, bool library) {
  const MatmulSample* best = nullptr;
  std::pair<bool, double> rank;
  for (const KernelResults& kernel : results.kernels) {
    if (kernel.device != device || kernel.library != library) continue;
    const MatmulSample* sample = kernel.at(results.largest_size(device));
    if (sample == nullptr) continue;
    const std::pair own(!has_few_repetitions(sample->time), sample->gflops);
    if (best != nullptr && own <= rank) continue;
    best = sample;
    rank = own;
  }
  return best;
}

// As the page's sentence on the device: the lab's fastest kernel, or without one a library.
const MatmulSample* best_product(const MatmulResults& results, Device device) {
  const MatmulSample* own = best_product(results, device, false);
  return own != nullptr ? own : best_product(results, device, true);
}

// The kernel of a live run with the highest median; null without live samples.
const KernelResults* best_live(const MatmulResults& results) {
  const KernelResults* best = nullptr;
  double most = 0;
  for (const KernelResults& kernel : results.kernels) {
    if (!results.request.live || kernel.live_gflops.empty()) continue;
    const double median = live_rate(kernel.live_gflops).median;
    if (best != nullptr && median <= most) continue;
    best = &kernel;
    most = median;
  }
  return best;
}

}  // namespace

std::string result_of(const MatmulResults& results, const std::vector<RungInfo>& rungs) {
  if (const TogetherSpeedup* best = results.best_speedup()) {
    return trf("at best {:.2f} times as fast as one device, at N = {}", best->speedup, best->n);
  }
  if (!results.speedups.empty()) return tr("too unsteady for a speed-up");
  if (const KernelResults* const live = best_live(results)) {
    const LiveRate rate = live_rate(live->live_gflops);
    const std::string text = trf("{} (median) by {} at N = {} on {}", format_gflops(rate.median),
                                 kernel_title(rungs, live->device, live->name),
                                 results.largest_size(live->device), lab::to_string(live->device));
    return rate.varies() ? trf("{}, unsteady", text) : text;
  }
  const std::vector<Device> devices = results.devices();
  const MatmulSample* best = devices.empty() ? nullptr : best_product(results, devices.front());
  if (best == nullptr) return "";
  std::vector<std::string> others;
  for (std::size_t i = 1; i < devices.size(); ++i) {
    const MatmulSample* sample = best_product(results, devices[i]);
    const std::string name = lab::to_string(devices[i]);
    const bool unsteady = sample != nullptr && lab::is_unsteady(sample->time);
    others.push_back(unsteady ? trf("{} (unsteady)", name) : name);
  }
  std::string text =
      trf("{} by {} at N = {} on {}", format_gflops(best->gflops),
          kernel_title(rungs, best->device, best->kernel), best->n, lab::to_string(best->device));
  const MatmulSample* library = best_product(results, devices.front(), true);
  if (library != nullptr && library != best) {
    text = trf("{}, best library {}", text, format_gflops(library->gflops));
  }
  return with_other_devices(with_steadiness(text, best->time), others);
}

bool is_unsteady(const MatmulResults& results) {
  if (!results.speedups.empty()) return results.best_speedup() == nullptr;
  if (const KernelResults* const live = best_live(results)) {
    return live_rate(live->live_gflops).varies();
  }
  return std::ranges::any_of(results.devices(), [&](Device device) {
    const MatmulSample* best = best_product(results, device);
    return best != nullptr && lab::is_unsteady(best->time);
  });
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

namespace {

// The measured point of the most devices with cores of their own, and that of one.
struct MeasuredPoints {
  const ScalingPoint *best = nullptr, *alone = nullptr;
  bool unsteady = false;     // the best
  double low = 0, high = 0;  // of its speed-up
};

MeasuredPoints measured_points(const ScalingResults& results) {
  MeasuredPoints found;
  for (const ScalingMode mode : {ScalingMode::Strong, ScalingMode::Weak}) {
    const ScalingCurve& curve = results.measured(mode);
    for (std::size_t i = 0; i < curve.points.size(); ++i) {
      const ScalingPoint& point = curve.points[i];
      if (point.devices == 1) found.alone = &point;
      if (point.devices < 2 || point.shares_cores) continue;
      if (found.best != nullptr && point.devices <= found.best->devices) continue;
      found.best = &point;
      found.unsteady = curve.is_unsteady(i);
      found.low = curve.speedup_low[i];
      found.high = curve.speedup_high[i];
    }
  }
  return found;
}

}  // namespace

std::string result_of(const ScalingResults& results) {
  // The measured points of a prediction are of an earlier job.
  if (!results.request.measure) return predicted_result(results);
  const MeasuredPoints points = measured_points(results);
  if (const ScalingPoint* best = points.best) {
    return points.unsteady
               ? trf("{:.2f} to {:.2f} times as fast on {} devices, unsteady", points.low,
                     points.high, best->devices)
               : trf("{:.2f} times as fast on {} devices", best->speedup, best->devices);
  }
  if (points.alone == nullptr) return "";
  return trf("{} images/s on one device", format_si(points.alone->images_per_s, ""));
}

bool is_unsteady(const ScalingResults& results) {
  return results.request.measure && measured_points(results).unsteady;
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
  if (!run.done) return "";
  return is_unsteady(run) ? tr("measured, too unsteady to conclude from") : run.done->sentence;
}

bool is_unsteady(const LessonRun& run) {
  return run.done && !run.done->why_open.empty();
}

}  // namespace lab::ui
