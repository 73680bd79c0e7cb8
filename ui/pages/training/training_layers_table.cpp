// The table of all numbers in a training's profile.
#include <fmt/format.h>

#include <cmath>

#include "compute/core/language.h"
#include "compute/core/units.h"
#include "ui/pages/training/training_parts.h"

namespace lab::ui {
namespace {

constexpr float kWideLayers = 820;  // units; at least this wide, the spread has columns

// A column and the quantity its rows show.
struct Shown {
  Column column;
  ProfileKey key;
  std::size_t side = 0;
};

std::vector<Shown> one_kind(bool wide) {
  std::vector<Shown> columns = {
      {{LAB_TEXT("Layer"), 1.9F, false, LAB_TEXT("In execution order.")}, ProfileKey::Layer},
      {{LAB_TEXT("Pass"), 1.05F, false, {}}, ProfileKey::Pass},
      {{LAB_TEXT("Time"), 1, true, LAB_TEXT("Median over the steps.")}, ProfileKey::Time}};
  if (wide) {
    columns.push_back(
        {{"p10", 1, true, LAB_TEXT("A tenth of the steps took less.")}, ProfileKey::P10});
    columns.push_back(
        {{"p90", 1, true, LAB_TEXT("A tenth of the steps took longer.")}, ProfileKey::P90});
  }
  columns.push_back({{"FLOP/s", 1.1F, true, LAB_TEXT("Operations of the direct algorithm.")},
                     ProfileKey::Gflops});
  columns.push_back({{LAB_TEXT("Of peak"), 0.8F, true,
                      LAB_TEXT("Share of the measured fused multiply-add peak.")},
                     ProfileKey::Share});
  return columns;
}

std::vector<Shown> two_kinds(bool wide) {
  std::vector<Shown> columns = {
      {{LAB_TEXT("Layer"), 1.9F, false, LAB_TEXT("In execution order.")}, ProfileKey::Layer},
      {{LAB_TEXT("Pass"), 1.05F, false, {}}, ProfileKey::Pass},
      {{LAB_TEXT("Lab"), 1, true, LAB_TEXT("Median time with the lab's kernels.")},
       ProfileKey::Time,
       0},
      {{LAB_TEXT("Library"), 1, true, LAB_TEXT("Median time with the library's kernels.")},
       ProfileKey::Time,
       1},
      {{LAB_TEXT("Library / lab"), 0.9F, true, LAB_TEXT("The library's time over the lab's.")},
       ProfileKey::Ratio}};
  if (wide) {
    columns.push_back({{LAB_TEXT("Lab of peak"), 0.9F, true,
                        LAB_TEXT("Share of the measured fused multiply-add peak.")},
                       ProfileKey::Share,
                       0});
    columns.push_back({{LAB_TEXT("Library of peak"), 0.9F, true,
                        LAB_TEXT("Share of the measured fused multiply-add peak.")},
                       ProfileKey::Share,
                       1});
  }
  return columns;
}

std::vector<Shown> columns_of(const TrainingProfile& profile, bool wide) {
  const bool both = profile.totals.size() > 1;
  std::vector<Shown> columns = both ? two_kinds(wide) : one_kind(wide);
  columns.push_back(
      {{LAB_TEXT("Traffic"), 1, true, LAB_TEXT("Each array read or written, counted once.")},
       ProfileKey::Bytes});
  columns.push_back({{"FLOP/B", 0.8F, true, LAB_TEXT("Arithmetic intensity: FLOP over traffic.")},
                     ProfileKey::Intensity});
  columns.push_back({{LAB_TEXT("Algorithm"), 1.35F, false,
                      both ? tr("The lab's. Backward: input gradient / weight gradient.")
                           : tr("Backward: input gradient / weight gradient.")},
                     ProfileKey::Method,
                     0});
  return columns;
}

std::string text_of(const TrainingProfile& profile, const ProfileLine& line, const Shown& shown) {
  const ProfileRow& row = *line[shown.side];
  if (shown.key == ProfileKey::Layer) return title_of(row);
  if (shown.key == ProfileKey::Method) return row.method;
  if (shown.key == ProfileKey::Pass) {
    const bool layer = row.phase == StepPhase::Forward || row.phase == StepPhase::Backward;
    return layer ? name_of(row.phase) : "";
  }
  const double value = value_of(profile, line, shown.key, shown.side);
  if (std::isnan(value)) return "";
  switch (shown.key) {
    case ProfileKey::Ratio: return fmt::format("{:.2f}x", value);
    case ProfileKey::Gflops: return format_gflops(value);
    case ProfileKey::Share: return percent(value);
    case ProfileKey::Bytes: return format_si(value, "B");
    case ProfileKey::Intensity: return fmt::format("{:.3g}", value);
    default: return format_seconds(value);
  }
}

std::string line_hint(const TrainingProfile& profile, const ProfileLine& line) {
  const ProfileRow& first = *line.front();
  std::string text = first.shape.empty() ? tr(first.kind) : tr(first.kind) + ", " + first.shape;
  for (const ProfileRow* row : line) text += "\n\n" + describe(profile, *row);
  return text;
}

// Draws a summary row: the total of all layers, the other time, or the whole step; `seconds` for
// each kind of kernels.
void total_row(const Panel& p, const std::vector<Shown>& columns, const char* name,
               const std::vector<double>& seconds, const char* hint) {
  table_row(p.ui);
  for (const Shown& shown : columns) {
    if (shown.key == ProfileKey::Layer) {
      cell(p.ui, name, hint);
    } else if (shown.key == ProfileKey::Time) {
      cell(p.ui, format_seconds(seconds[shown.side]), hint);
    } else if (shown.key == ProfileKey::Ratio && seconds.front() > 0 && seconds.back() > 0) {
      cell(p.ui, fmt::format("{:.2f}x", seconds.back() / seconds.front()));
    } else {
      cell(p.ui, "");
    }
  }
}

// They add up to the step.
void total_rows(const Panel& p, const TrainingProfile& profile, const std::vector<Shown>& columns) {
  const std::vector<ProfileLayer> layers = layers_of(profile, LayerOrder::Network);
  std::vector<double> parts, other, step;
  for (std::size_t side = 0; side < profile.totals.size(); ++side) {
    step.push_back(profile.totals[side].step.median_s);
    other.push_back(other_s(profile.totals[side], layers, side));
    parts.push_back(step.back() - other.back());
  }
  total_row(p, columns, tr("All parts"), parts, tr("Sum of the medians of the parts."));
  total_row(p, columns, tr("Other"), other, other_hint());
  total_row(p, columns, tr("Step"), step, tr("From one batch to the next, median over the steps."));
}

}  // namespace

void draw_layer_table(const Panel& p, const TrainingProfile& profile) {
  TrainingForm& form = p.view.forms.training;
  foldout(p.ui, "training/layer_numbers", tr("All numbers"), form.layer_table);
  if (!form.layer_table) return;
  const std::vector<Shown> columns = columns_of(profile, width_left(p) >= kWideLayers);
  std::vector<Column> labels;
  labels.reserve(columns.size());
  for (const Shown& shown : columns) labels.push_back(shown.column);
  TableSort sort{form.layer_sort_column, form.layer_sort_down};
  if (!begin_table(p.ui, "training/layer_table", labels, 0, &sort)) return;
  const auto at = static_cast<std::size_t>(sort.column) % columns.size();
  form.layer_sort_column = static_cast<int>(at);
  form.layer_sort_down = sort.descending;
  for (const ProfileLine& line :
       lines_of(profile, columns[at].key, columns[at].side, sort.descending)) {
    table_row(p.ui);
    const std::string all = line_hint(profile, line);
    for (const Shown& shown : columns) cell(p.ui, text_of(profile, line, shown), all);
  }
  total_rows(p, profile, columns);
  end_table(p.ui);
}

}  // namespace lab::ui
