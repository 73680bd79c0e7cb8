#include <fmt/format.h>

#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "app/headless/printer.h"
#include "app/headless/table.h"
#include "compute/core/language.h"
#include "compute/core/units.h"

namespace lab::app {
namespace {

constexpr const char* kNoFigure = "-";

std::string images_text(double images_per_s) {
  return fmt::format("{:.0f}", images_per_s);
}

std::string factor(double speedup) {
  return fmt::format("{:.2f}x", speedup);
}

std::string step_time(double seconds) {
  return seconds > 0 ? format_seconds(seconds) : kNoFigure;
}

std::string remark(const ScalingPoint& p) {
  if (p.step.unstable && p.shares_cores) return tr("unsteady, devices share cores");
  if (p.step.unstable) return tr("unsteady");
  return p.shares_cores ? tr("devices share cores") : "";
}

std::string error_text(const ScalingPrediction& p) {
  if (!p.measured_step_s) return kNoFigure;
  return fmt::format("{:+.1f} %", (p.step_s / *p.measured_step_s - 1) * 100);
}

std::string heading_of(const ScalingPrediction& p) {
  const bool strong = p.mode == ScalingMode::Strong;
  if (p.measured_step_s) {
    return strong ? trf("PREDICTION, not measured: strong scaling over this memory, compared with "
                        "the measurement; compute time {}",
                        p.basis)
                  : trf("PREDICTION, not measured: weak scaling over this memory, compared with "
                        "the measurement; compute time {}",
                        p.basis);
  }
  return strong ? trf("PREDICTION, not measured: strong scaling over {}; compute time {}", p.link,
                      p.basis)
                : trf("PREDICTION, not measured: weak scaling over {}; compute time {}", p.link,
                      p.basis);
}

// The columns of measurements and predictions alike, between those that only one of them has.
std::vector<TableColumn> step_columns(const std::vector<TableColumn>& after_step,
                                      const std::vector<TableColumn>& last) {
  std::vector<TableColumn> columns = {
      {LAB_TEXT("devices"), 7, true}, {LAB_TEXT("batch"), 6, true}, {LAB_TEXT("step"), 8, true}};
  const TableColumn shared[] = {{LAB_TEXT("images/s"), 8, true},    {LAB_TEXT("speed-up"), 8, true},
                                {LAB_TEXT("efficiency"), 10, true}, {LAB_TEXT("compute"), 8, true},
                                {LAB_TEXT("all-reduce"), 10, true}, {LAB_TEXT("exposed"), 8, true},
                                {LAB_TEXT("waiting"), 8, true}};
  columns.insert(columns.end(), after_step.begin(), after_step.end());
  columns.insert(columns.end(), std::begin(shared), std::end(shared));
  columns.insert(columns.end(), last.begin(), last.end());
  return columns;
}

// Prints measurements and predictions in separate tables.
class ScalingTable final : public Printer {
 public:
  explicit ScalingTable(Console& console) : console_(console) {}

  void show(const Payload& payload) override {
    if (show_common(console_, payload)) return;
    if (const auto* point = std::get_if<ScalingPoint>(&payload)) {
      results_.add(*point);
    } else if (const auto* prediction = std::get_if<ScalingPrediction>(&payload)) {
      show_points();
      show_prediction(*prediction);
    } else if (const auto* comparison = std::get_if<ScalingComparison>(&payload)) {
      show_comparison(*comparison);
    } else if (std::holds_alternative<JobFinished>(payload)) {
      show_points();
    }
  }

 private:
  void show_points() {
    const std::vector<ScalingPoint> points = results_.take();
    if (points.empty()) return;
    bool shares_cores = false;
    std::optional<ScalingMode> mode;
    for (const ScalingPoint& p : points) {
      if (p.mode != mode) {
        console_.line(p.mode == ScalingMode::Strong ? tr("Measured, strong scaling:")
                                                    : tr("Measured, weak scaling:"));
        console_.line(measured_.header());
        mode = p.mode;
      }
      console_.line(measured_.row(
          {std::to_string(p.devices), std::to_string(p.batch), format_seconds(p.step.median_s),
           spread_text(p.step), images_text(p.images_per_s), factor(p.speedup),
           percent(p.efficiency), step_time(p.split.compute_s), step_time(p.split.all_reduce_s),
           step_time(p.split.exposed_s), step_time(p.split.imbalance_s),
           p.devices > 1 ? percent(p.hidden_share) : kNoFigure,
           p.test_acc ? fmt::format("{:.4f}", *p.test_acc) : kNoFigure, remark(p)}));
      shares_cores = shares_cores || p.shares_cores;
    }
    if (shares_cores) {
      console_.line(tr("Devices that share cores bring no speed-up beyond the number of cores."));
    }
  }

  void show_prediction(const ScalingPrediction& p) {
    const std::string heading = heading_of(p);
    if (!p.withheld.empty()) {
      if (p.withheld != withheld_) console_.line(trf("Prediction withheld: {}.", p.withheld));
      withheld_ = p.withheld;
      return;
    }
    if (heading != heading_) {
      console_.line("");
      console_.line(heading);
      console_.line(predicted_.header());
      heading_ = heading;
    }
    console_.line(predicted_.row(
        {std::to_string(p.devices), std::to_string(p.batch), format_seconds(p.step_s),
         images_text(p.images_per_s), factor(p.speedup), percent(p.efficiency),
         step_time(p.split.compute_s), step_time(p.split.all_reduce_s),
         step_time(p.split.exposed_s), step_time(p.split.imbalance_s), step_time(p.process_s),
         step_time(p.measured_step_s.value_or(0)), error_text(p)}));
  }

  void show_comparison(const ScalingComparison& comparison) {
    console_.line(tr(
        "PREDICTIONS compared with published images/s. Only the rate of one device, the link and "
        "facts of the network go into a prediction."));
    console_.line(compared_.header());
    bool counted = true;
    for (const ComparedScaling& row : comparison.rows) {
      if (counted && !row.counted) {
        console_.line(tr("Added later, not part of the errors below:"));
      }
      counted = row.counted;
      console_.line(compared_.row(
          {tr(row.system), std::string(to_string(row.style)), row.link, std::to_string(row.devices),
           images_text(row.published_images_per_s), images_text(row.predicted_images_per_s),
           fmt::format("{:+.1f} %", row.error() * 100)}));
    }
    console_.line(trf("Median error {}, worst {}.", percent(comparison.median_error),
                      percent(comparison.worst_error)));
  }

  Console& console_;
  ScalingResults results_;
  std::string heading_;   // of the current table
  std::string withheld_;  // reason printed last
  const TableLayout measured_{
      step_columns({{LAB_TEXT("spread"), 8, true}},
                   {{LAB_TEXT("hidden"), 7, true}, {LAB_TEXT("accuracy"), 8, true}, {"", 0}})};
  const TableLayout predicted_{step_columns({}, {{LAB_TEXT("process"), 8, true},
                                                 {LAB_TEXT("measured"), 8, true},
                                                 {LAB_TEXT("deviation"), 9, true}})};
  const TableLayout compared_{{{LAB_TEXT("system"), 24},
                               {LAB_TEXT("style"), 12},
                               {LAB_TEXT("link"), 14},
                               {LAB_TEXT("devices"), 7, true},
                               {LAB_TEXT("published"), 10, true},
                               {LAB_TEXT("predicted"), 10, true},
                               {LAB_TEXT("deviation"), 9, true}}};
};

}  // namespace

std::unique_ptr<Printer> make_scaling_table(Console& console) {
  return std::make_unique<ScalingTable>(console);
}

}  // namespace lab::app
