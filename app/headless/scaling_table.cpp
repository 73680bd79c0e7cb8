#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "app/headless/printer.h"
#include "app/headless/table.h"
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
  std::string text = p.step.unstable ? "unstable" : "";
  if (p.shares_cores) text += std::string(text.empty() ? "" : ", ") + "devices share cores";
  return text;
}

std::string error_text(const ScalingPrediction& p) {
  if (!p.measured_step_s) return kNoFigure;
  return fmt::format("{:+.1f} %", (p.step_s / *p.measured_step_s - 1) * 100);
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
        console_.line(fmt::format("Measured, {} scaling:", to_string(p.mode)));
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
      console_.line("Devices that share cores bring no speed-up beyond the number of cores.");
    }
  }

  void show_prediction(const ScalingPrediction& p) {
    const std::string heading = fmt::format(
        "PREDICTION, not measured: {} scaling over {}; compute time {}", to_string(p.mode),
        p.measured_step_s ? "this memory, compared with the measurement" : p.link, p.basis);
    if (heading != heading_) {
      console_.line("");
      console_.line(heading);
      console_.line(predicted_.header());
      heading_ = heading;
    }
    console_.line(predicted_.row({std::to_string(p.devices), std::to_string(p.batch),
                                  format_seconds(p.step_s), images_text(p.images_per_s),
                                  factor(p.speedup), percent(p.efficiency),
                                  step_time(p.split.compute_s), step_time(p.split.all_reduce_s),
                                  step_time(p.split.exposed_s), step_time(p.split.imbalance_s),
                                  step_time(p.measured_step_s.value_or(0)), error_text(p)}));
  }

  Console& console_;
  ScalingResults results_;
  std::string heading_;  // of the current table
  const TableLayout measured_{{{"devices", 7, true},
                               {"batch", 6, true},
                               {"step", 8, true},
                               {"spread", 8, true},
                               {"images/s", 8, true},
                               {"speed-up", 8, true},
                               {"efficiency", 10, true},
                               {"compute", 8, true},
                               {"all-reduce", 10, true},
                               {"exposed", 8, true},
                               {"waiting", 8, true},
                               {"hidden", 7, true},
                               {"accuracy", 8, true},
                               {"", 0}}};
  const TableLayout predicted_{{{"devices", 7, true},
                                {"batch", 6, true},
                                {"step", 8, true},
                                {"images/s", 8, true},
                                {"speed-up", 8, true},
                                {"efficiency", 10, true},
                                {"compute", 8, true},
                                {"all-reduce", 10, true},
                                {"exposed", 8, true},
                                {"waiting", 8, true},
                                {"measured", 8, true},
                                {"error", 7, true}}};
};

}  // namespace

std::unique_ptr<Printer> make_scaling_table(Console& console) {
  return std::make_unique<ScalingTable>(console);
}

}  // namespace lab::app
