// Strips: one mark per run, stacked where runs agree, so that many runs form a histogram.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compute/core/events/spread.h"
#include "compute/core/language.h"
#include "ui/pages/learn/learn_parts.h"
#include "ui/widgets/item.h"

namespace lab::ui {
namespace {

constexpr std::size_t kManyRuns = 20;  // drawn taller, as a histogram
constexpr float kFewHeight = 19, kManyHeight = 32, kTickHeight = 18;  // units
constexpr float kFewMark = 6, kManyMark = 4;

// Value axis shared by all strips.
struct StripAxis {
  double low = 0, high = 1, tick = 0.25;
  float left = 0, right = 1;  // pixels
  float at(double value) const {
    return left + (right - left) * static_cast<float>((value - low) / (high - low));
  }
};

// 1, 2 or 5 times a power of ten.
double round_step(double least) {
  const double power = std::pow(10, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= least) return factor * power;
  }
  return 10 * power;
}

const LessonPrediction* prediction_of(const LessonRun& run, const LessonSample& sample) {
  for (const LessonPrediction& prediction : run.predictions) {
    if (prediction.series == sample.series) return &prediction;
  }
  return nullptr;
}

StripAxis axis_of(const LessonRun& run, const std::vector<LessonSample>& samples) {
  StripAxis axis{1e300, -1e300};
  const auto include = [&axis](double value) {
    axis.low = std::min(axis.low, value);
    axis.high = std::max(axis.high, value);
  };
  for (const LessonSample& s : samples) {
    for (const double v : s.draws) include(v);
    if (const LessonPrediction* prediction = prediction_of(run, s)) include(prediction->value);
  }
  const double range = std::max(axis.high - axis.low, 1e-3);
  axis.tick = round_step(range / 6);
  axis.low -= range / 30;
  axis.high += range / 30;
  return axis;
}

struct StripRow {
  const LessonSample& sample;
  float top = 0, bottom = 0;
  ImU32 color = 0;
  const LessonPrediction* predicted = nullptr;
};

void strip_marks(Ui& ui, const StripAxis& axis, const StripRow& row) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float width = ui.px(row.sample.draws.size() > kManyRuns ? kManyMark : kFewMark);
  std::vector<int> stacks(static_cast<std::size_t>((axis.right - axis.left) / width) + 1, 0);
  const auto column = [&](double value) {
    const float at = (axis.at(value) - axis.left) / width;
    return std::min(static_cast<std::size_t>(std::max(0.0F, at)), stacks.size() - 1);
  };
  for (const double v : row.sample.draws) ++stacks[column(v)];
  const int most = *std::max_element(stacks.begin(), stacks.end());
  const float room = row.bottom - row.top - ui.px(4);
  const float high = std::min(width, room / static_cast<float>(most));
  const float gap = high >= ui.px(3) ? 1.0F : 0.0F;
  for (std::size_t i = 0; i < stacks.size(); ++i) {
    const float left = axis.left + width * static_cast<float>(i);
    for (int j = 0; j < stacks[i]; ++j) {
      const float bottom = row.bottom - ui.px(2) - high * static_cast<float>(j);
      list->AddRectFilled({left, bottom - high + gap}, {left + width - 1, bottom},
                          styled(row.color));
    }
  }
  const float mean = axis.at(row.sample.value);
  list->AddLine({mean, row.top + ui.px(2)}, {mean, row.bottom - ui.px(1)}, styled(ui.theme->text),
                ui.px(1.5F));
  if (row.predicted == nullptr) return;
  const float at = axis.at(row.predicted->value);
  const float first = row.top + ui.px(2), dash = ui.px(5);
  const auto dashes = static_cast<int>(std::ceil((row.bottom - ui.px(2) - first) / dash));
  for (int i = 0; i < dashes; ++i) {
    const float y = first + dash * static_cast<float>(i);
    list->AddLine({at, y}, {at, y + ui.px(2.5F)}, styled(ui.theme->accent), ui.px(2));
  }
}

void strip_ticks(Ui& ui, const StripAxis& axis, float top, float bottom, std::string_view unit) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const auto last = static_cast<int>(std::floor(axis.high / axis.tick));
  for (auto i = static_cast<int>(std::ceil(axis.low / axis.tick)); i <= last; ++i) {
    const double value = i * axis.tick;
    list->AddLine({axis.at(value), top}, {axis.at(value), bottom}, styled(ui.theme->plot_grid));
    const std::string text = fmt::format("{:.4g}{}", value, unit == "x" ? "x" : "");
    const float width = text_size(ui.fonts.caption, text).x;
    draw_text(list, ui.fonts.caption, {axis.at(value) - width / 2, bottom + ui.px(2)},
              ui.theme->muted, text);
  }
}

std::string strip_hint(const StripRow& row) {
  const Spread spread = spread_of(row.sample);
  std::string text = row.sample.series;
  add_row(text, tr("mean ± standard deviation"), mean_text(spread, row.sample.unit));
  add_row(text, tr("range"),
          trf("{} to {}", quantity_text(spread.least, row.sample.unit),
              quantity_text(spread.most, row.sample.unit)));
  add_row(text, "n", std::to_string(spread.n));
  if (row.predicted != nullptr) {
    add_row(text, tr("predicted"), quantity_text(row.predicted->value, row.predicted->unit));
  }
  return text;
}

}  // namespace

bool drawn_as_strip(const LessonSample& sample) {
  return !sample.draws.empty() && sample.text.empty();
}

void draw_strips(const Panel& p, std::string_view path, const LessonRun& run) {
  Ui& ui = p.ui;
  std::vector<LessonSample> drawn;
  std::copy_if(run.samples.begin(), run.samples.end(), std::back_inserter(drawn), drawn_as_strip);
  if (drawn.empty()) return;
  float label = 0, numbers = 0, height = 0;
  for (const LessonSample& s : drawn) {
    label = std::max(label, text_size(ui.fonts.caption, s.series).x);
    numbers = std::max(numbers,
                       text_size(ui.fonts.caption, mean_text(spread_of(s), s.unit) + ", n 888").x);
    height += ui.px(s.draws.size() > kManyRuns ? kManyHeight : kFewHeight);
  }
  const float width = ImGui::GetContentRegionAvail().x;
  constexpr float kLeastAxis = 200;  // units
  label = std::min(label, std::max(0.4F * width, width - numbers - ui.px(kLeastAxis + 28)));
  label += ui.px(12);
  const Item item = control(path, {width, height + ui.px(kTickHeight)});
  record(ui, item, path, "strips", fmt::format("{} strips", drawn.size()));
  if (!item.visible) return;
  StripAxis axis = axis_of(run, drawn);
  axis.left = item.min.x + label;
  axis.right = std::max(axis.left + ui.px(40), item.max.x - numbers - ui.px(16));
  strip_ticks(ui, axis, item.min.y, item.min.y + height, drawn.front().unit);
  ImDrawList* list = ImGui::GetWindowDrawList();
  float top = item.min.y;
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    const LessonSample& s = drawn[i];
    const bool many = s.draws.size() > kManyRuns;
    StripRow row{s, top, top + ui.px(many ? kManyHeight : kFewHeight),
                 many ? ui.theme->muted : series_color(*ui.theme, 0)};
    row.predicted = prediction_of(run, s);
    const float text_y = (row.top + row.bottom - ui.fonts.caption->FontSize) / 2;
    draw_text_fitted(list, ui.fonts.caption, {item.min.x, text_y}, label - ui.px(12),
                     ui.theme->muted, s.series);
    draw_text(list, ui.fonts.caption, {axis.right + ui.px(12), text_y}, ui.theme->text,
              fmt::format("{}, n {}", mean_text(spread_of(s), s.unit), s.draws.size()));
    strip_marks(ui, axis, row);
    list->AddLine({item.min.x, row.bottom}, {item.max.x, row.bottom}, styled(ui.theme->plot_grid));
    hint_at(ui, {item.min.x, row.top}, {item.max.x, row.bottom}, strip_hint(row));
    record_rect(ui, fmt::format("{}/{}", path, i), "text", s.series,
                mean_text(spread_of(s), s.unit), true, {item.min.x, row.top},
                {item.max.x, row.bottom});
    top = row.bottom;
  }
  caption(ui, tr("Line: mean. Dashed: prediction. ±: standard deviation of the runs."));
}

}  // namespace lab::ui
