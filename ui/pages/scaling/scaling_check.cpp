// How far the model is from published figures that played no part in it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compute/core/language.h"
#include "ui/pages/scaling/scaling_parts.h"

namespace lab::ui {
namespace {

constexpr float kWideCheck = 640;    // units; at least this wide, the link has a column
constexpr float kWidestCheck = 900;  // the style, too

std::string rate_text(double images_per_s) {
  return fmt::format("{:.{}f}", images_per_s, images_per_s < 100 ? 1 : 0);
}

std::string error_size(double share) {
  return fmt::format("{:.1f} %", share * 100);
}

std::vector<Column> check_columns(float width) {
  std::vector<Column> columns = {{LAB_TEXT("System"), 2.4F, false, {}}};
  if (width > kWidestCheck) columns.push_back({LAB_TEXT("Style"), 1.4F, false, {}});
  if (width > kWideCheck) columns.push_back({LAB_TEXT("Link"), 1.8F, false, {}});
  columns.push_back({LAB_TEXT("Devices"), 0.8F, true, {}});
  columns.push_back({LAB_TEXT("Published"), 1, true, LAB_TEXT("Images per second.")});
  columns.push_back(
      {LAB_TEXT("Predicted"), 1, true, LAB_TEXT("Images per second. Calculated, not measured.")});
  columns.push_back(
      {LAB_TEXT("Deviation"), 0.9F, true, LAB_TEXT("Predicted relative to published.")});
  columns.push_back({LAB_TEXT("Source"), 0.7F, true, LAB_TEXT("Number in the list below.")});
  return columns;
}

std::string style_text(const ComparedScaling& row) {
  return tr(enum_names<ParallelStyle>()[static_cast<std::size_t>(row.style)].label);
}

std::string origin_text(const ComparedScaling& row) {
  const std::string system = fmt::format("{}, {}", tr(row.system), style_text(row));
  std::string text = fmt::format("{}\n{}", system, tr(row.source));
  add_row(text, tr("images per step"), std::to_string(row.batch));
  add_row(text, tr("images/s of one device"), rate_text(row.one_device_images_per_s));
  add_row(text, tr("link"), link_title(row.link));
  return text;
}

// Where the published figures are from, without duplicates.
std::vector<std::string> sources_of(const ScalingComparison& comparison) {
  std::vector<std::string> sources;
  for (const ComparedScaling& row : comparison.rows) {
    if (std::ranges::find(sources, row.source) == sources.end()) sources.push_back(row.source);
  }
  return sources;
}

void check_row(const Panel& p, const ComparedScaling& row, std::ptrdiff_t source, float width) {
  table_row(p.ui);
  cell(p.ui, tr(row.system), origin_text(row));
  if (width > kWidestCheck) cell(p.ui, style_text(row));
  if (width > kWideCheck) cell(p.ui, link_title(row.link));
  cell(p.ui, std::to_string(row.devices));
  cell(p.ui, rate_text(row.published_images_per_s));
  cell(p.ui, rate_text(row.predicted_images_per_s));
  cell(p.ui, fmt::format("{:+.1f} %", row.error() * 100));
  cell(p.ui, std::to_string(source), tr(row.source));
}

void check_table(const Panel& p, std::string_view path, const std::vector<std::string>& sources,
                 bool counted) {
  const float width = width_left(p);
  if (!begin_table(p.ui, path, check_columns(width))) return;
  for (const ComparedScaling& row : p.model.scaling_comparison().rows) {
    if (row.counted != counted) continue;
    check_row(p, row, std::ranges::find(sources, row.source) - sources.begin() + 1, width);
  }
  end_table(p.ui);
}

void source_list(const Panel& p, const std::vector<std::string>& sources) {
  int number = 0;
  for (const std::string& source : sources) {
    const std::string text = fmt::format("{}: {}", ++number, tr(source));
    muted(p.ui, text);
    record_item(p.ui, fmt::format("scaling/source/{}", number), "text", text);
  }
}

}  // namespace

std::string check_sentence(const ScalingComparison& comparison) {
  std::int64_t counted = 0, others = 0;
  double worst_other = 0;
  for (const ComparedScaling& row : comparison.rows) {
    ++(row.counted ? counted : others);
    if (!row.counted) worst_other = std::max(worst_other, std::abs(row.error()));
  }
  if (counted == 0) return "";
  std::string text =
      trf("Over {} published training rates (first table), the median error is {}, the "
          "worst {}.",
          counted, error_size(comparison.median_error), error_size(comparison.worst_error));
  if (others > 0) {
    text += " " + trf("Over {} that were added later (second table), the worst is {}.", others,
                      error_size(worst_other));
  }
  return text + " " +
         tr("Only the rate of one device, the link and facts of the network went into "
            "each prediction.");
}

void draw_model_check(const Panel& p) {
  const ScalingComparison& comparison = p.model.scaling_comparison();
  const std::string sentence = check_sentence(comparison);
  if (sentence.empty()) return;
  Card card(p, "scaling/check", tr("How good is the model? Compared with published GPU servers"),
            {.hint = tr("The model applied to systems with published figures. ResNet-50 unless the "
                        "row says otherwise.")});
  if (!card) return;
  body(p.ui, sentence);
  record_item(p.ui, "scaling/check_sentence", "text", sentence);
  bool& open = p.view.forms.scaling.show_check;
  foldout(p.ui, "scaling/show_check", tr("Published and predicted images per second"), open);
  if (!open) return;
  const std::vector<std::string> sources = sources_of(comparison);
  muted(p.ui,
        tr("DDP: a process per device, sums during backward. DataParallel: one process for all "
           "devices. AMP: automatic mixed precision, products of 16-bit numbers."));
  check_table(p, "scaling/check_table", sources, true);
  const std::string others =
      tr("Added after the rows above were chosen, so not part of their errors. The rows of PyTorch "
         "with AMP show the model's limit: they lose time that no link explains.");
  muted(p.ui, others);
  check_table(p, "scaling/check_more", sources, false);
  source_list(p, sources);
}

}  // namespace lab::ui
