// All numbers of a scaling experiment.
#include <fmt/format.h>

#include "compute/core/units.h"
#include "ui/pages/scaling/scaling_parts.h"

namespace lab::ui {
namespace {

constexpr float kWideTable = 900;  // units from which the split has columns of its own

std::string step_time_text(double seconds) {
  return seconds > 0 ? format_seconds(seconds) : "0 s";
}

std::string spread_text(const Timing& t) {
  if (t.median_s <= 0) return "N/A";
  return fmt::format("{:.1f} %", 100 * (t.p90_s - t.p10_s) / t.median_s);
}

std::vector<Column> columns_of(bool wide) {
  std::vector<Column> columns = {{"Devices", 0.8F, true, {}},
                                 {"Step", 1, true, "Median time of a step."},
                                 {"Images/s", 1, true, {}},
                                 {"Speed-up", 0.9F, true, "Over one device."},
                                 {"Efficiency", 1, true, "Speed-up over devices."}};
  if (wide) {
    columns.push_back({"Compute", 1, true, "Mean over the devices."});
    columns.push_back({"Exposed", 1, true, "All-reduce that backward does not hide."});
    columns.push_back({"Waiting", 1, true, "For the slowest device."});
    columns.push_back({"n", 0.6F, true, "Timed steps, warm-up not counted."});
    columns.push_back({"p10 to p90", 1, true, "Spread of the steps, in share of the median."});
  }
  columns.push_back({"Accuracy", 1, true, "On the test images."});
  columns.push_back({"State", 1.2F, false, {}});
  return columns;
}

void split_cells(const Panel& p, const StepSplit& split) {
  cell(p.ui, step_time_text(split.compute_s));
  cell(p.ui, step_time_text(split.exposed_s));
  cell(p.ui, step_time_text(split.imbalance_s));
}

void measured_row(const Panel& p, const ScalingResults& results, const ScalingPoint& point,
                  bool wide) {
  table_row(p.ui);
  cell(p.ui, std::to_string(point.devices), describe(results, point));
  cell(p.ui, step_time_text(point.step.median_s));
  cell(p.ui, format_si(point.images_per_s, ""));
  cell(p.ui, times_text(point.speedup));
  cell(p.ui, percent(point.efficiency));
  if (wide) {
    split_cells(p, point.split);
    cell(p.ui, std::to_string(point.step.n));
    cell(p.ui, spread_text(point.step));
  }
  if (point.test_acc) {
    cell(p.ui, fmt::format("{:.2f} %", *point.test_acc * 100));
  } else {
    cell(p.ui, "N/A", "Not asked for, or not known yet.");
  }
  if (point.shares_cores) {
    cell(p.ui, "shares cores", "More devices than cores: no speed-up beyond the number of cores.");
  } else if (point.step.unstable) {
    cell(p.ui, "unstable", "The steps spread more than a steady machine lets them.");
  } else {
    cell(p.ui, "measured");
  }
}

void predicted_row(const Panel& p, const ScalingResults& results, const ScalingPrediction& point,
                   bool wide) {
  table_row(p.ui);
  cell(p.ui, std::to_string(point.devices), describe(results, point));
  cell(p.ui, step_time_text(point.step_s));
  cell(p.ui, format_si(point.images_per_s, ""));
  cell(p.ui, times_text(point.speedup));
  cell(p.ui, percent(point.efficiency));
  if (wide) {
    split_cells(p, point.split);
    cell(p.ui, "N/A", "Calculated, not measured.");
    cell(p.ui, "N/A", "Calculated, not measured.");
  }
  cell(p.ui, "N/A", "A prediction knows times alone.");
  if (point.measured_step_s) {
    cell(p.ui, "model", "What the model says of this machine, to be held against the measurement.");
  } else {
    cell(p.ui, "prediction", "Calculated, not measured.");
  }
}

}  // namespace

void draw_scaling_table(const Panel& p, const Kept<ScalingResults>& kept, ScalingMode mode) {
  const ScalingResults& results = shown(kept);
  Card card(p, "scaling/table_card", "", {.dimmed = is_old(kept)});
  if (!card) return;
  bool& open = p.view.forms.scaling.show_table;
  foldout(p.ui, "scaling/show_table", "All numbers, and what was skipped", open);
  if (!open) return;
  const bool wide = width_left(p) > kWideTable;
  if (begin_table(p.ui, "scaling/table", columns_of(wide))) {
    for (const ScalingPoint& point : results.measured(mode).points) {
      measured_row(p, results, point, wide);
    }
    for (const ScalingPrediction& point : results.checked(mode).points) {
      predicted_row(p, results, point, wide);
    }
    for (const ScalingPrediction& point : results.predicted(mode).points) {
      predicted_row(p, results, point, wide);
    }
    end_table(p.ui);
  }
  for (const Skipped& s : results.skipped) {
    muted(p.ui, fmt::format("Skipped {}: {}", s.what, s.reason));
  }
}

}  // namespace lab::ui
