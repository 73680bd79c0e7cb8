// Test images with the network's predictions, and the confusion matrix.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "compute/core/language.h"
#include "ui/pages/training/training_parts.h"
#include "ui/widgets/item.h"

namespace lab::ui {
namespace {

constexpr int kSide = 28;
constexpr int kLevels = 16;
constexpr std::size_t kMaxImages = 24;

// Returns the index in a row-major array of row length `width`.
std::size_t at(int line, int column, int width) {
  return static_cast<std::size_t>(line) * static_cast<std::size_t>(width) +
         static_cast<std::size_t>(column);
}

int level(std::uint8_t pixel) {
  return pixel * kLevels / 256;
}

constexpr float kImage = 84, kImageColumn = 104;  // units

void draw_prediction(const Panel& p, const TrainingRun& run, const PredictedImage& image,
                     std::size_t i, float width) {
  Ui& ui = p.ui;
  const float side = std::floor(std::min(width, ui.px(kImage)) / kSide) * kSide;
  ImFont* font = ui.fonts.caption;
  const float line = font->FontSize + ui.px(2);
  const std::string path = fmt::format("training/image/{}", i);
  const Item item = control(path, {width, side + 3 * line + ui.px(2)});
  if (!item.visible) return;
  ImDrawList* list = ImGui::GetWindowDrawList();
  draw_grey(image.pixels, kSide, item.min, side / kSide);
  const bool right = image.label == image.predicted;
  const std::string label = class_name(run, image.label);
  const std::string predicted = class_name(run, image.predicted);
  const float y = item.min.y + side + ui.px(2);
  draw_text_fitted(list, font, {item.min.x, y}, width, ui.theme->text, label);
  draw_text_fitted(list, font, {item.min.x, y + line}, width,
                   right ? ui.theme->good : ui.theme->bad,
                   right ? tr("correct") : fmt::format("→ {}", predicted));
  draw_text_fitted(list, font, {item.min.x, y + 2 * line}, width, ui.theme->muted,
                   trf("{:.0f} % sure", image.confidence * 100));
  std::string text;
  add_row(text, tr("label"), label);
  add_row(text, tr("prediction"), predicted);
  add_row(text, tr("confidence"), fmt::format("{:.1f} %", image.confidence * 100));
  hint(ui, text);
  record(ui, item, path, "image", label, predicted);
}

// --- confusion ------------------------------------------------------------------------------

// Places of the matrix: names on the left and on top, a column and a row of totals.
struct Grid {
  ImVec2 origin, cell;  // of the first count, pixels
  float names = 0;      // width of the names on the left
  ImVec2 at(int column, int line) const {
    return {origin.x + cell.x * static_cast<float>(column),
            origin.y + cell.y * static_cast<float>(line)};
  }
};

float widest_name(const Panel& p, const TrainingRun& run, int classes) {
  float width = 0;
  for (int i = 0; i < classes; ++i) {
    width = std::max(width, text_size(p.ui.fonts.caption, class_name(run, i)).x);
  }
  return std::max(width, text_size(p.ui.fonts.caption, tr("true class")).x);
}

// Draws one line upwards from `low`: the text, turned by a quarter.
void draw_upwards(ImDrawList* list, ImFont* font, ImVec2 low, ImU32 color, std::string_view text) {
  const int first = list->VtxBuffer.Size;
  const ImVec2 pos(std::round(low.x), std::round(low.y));
  draw_text(list, font, pos, color, text);
  for (int i = first; i < list->VtxBuffer.Size; ++i) {
    ImVec2& v = list->VtxBuffer[i].pos;
    v = {pos.x + (v.y - pos.y), pos.y - (v.x - pos.x)};
  }
}

void centred(const Panel& p, ImVec2 min, ImVec2 cell, ImU32 color, const std::string& text) {
  ImFont* font = p.ui.fonts.caption;
  const ImVec2 size = text_size(font, text);
  draw_text(ImGui::GetWindowDrawList(), font,
            {min.x + (cell.x - size.x) / 2, min.y + (cell.y - font->FontSize) / 2}, color, text);
}

void confusion_cell(const Panel& p, const TrainingRun& run, const Confusion& c, const Grid& grid,
                    int label, int predicted, std::int64_t row_total) {
  Ui& ui = p.ui;
  const std::int64_t count = c.counts[at(label, predicted, c.classes)];
  const double total = static_cast<double>(row_total);
  const double share = row_total > 0 ? static_cast<double>(count) / total : 0;
  // The square root keeps rare confusions visible beside the diagonal.
  const ImU32 ink = label == predicted ? ui.theme->good : ui.theme->bad;
  const ImU32 fill = mix(ui.theme->raised, ink, static_cast<float>(std::sqrt(share)));
  const ImVec2 min = grid.at(predicted, label), gap(ui.px(1), ui.px(1));
  const ImVec2 low(min.x + gap.x, min.y + gap.y);
  const ImVec2 high(min.x + grid.cell.x - gap.x, min.y + grid.cell.y - gap.y);
  ImGui::GetWindowDrawList()->AddRectFilled(low, high, styled(fill), ui.px(2));
  if (count > 0) {
    const bool bright = contrast(IM_COL32_WHITE, fill) > contrast(IM_COL32_BLACK, fill);
    centred(p, min, grid.cell, bright ? IM_COL32_WHITE : IM_COL32_BLACK, std::to_string(count));
  }
  std::string text = trf("{} classified as {}", class_name(run, label), class_name(run, predicted));
  add_row(text, tr("test images"), trf("{} of {:.0f}", count, total));
  add_row(text, tr("share"), percent(share));
  hint_at(ui, low, high, text);
}

void confusion_names(const Panel& p, const TrainingRun& run, const Confusion& c, const Grid& grid) {
  Ui& ui = p.ui;
  ImDrawList* list = ImGui::GetWindowDrawList();
  ImFont* font = ui.fonts.caption;
  for (int i = 0; i <= c.classes; ++i) {
    const std::string name = i < c.classes ? class_name(run, i) : std::string(tr("total"));
    const ImU32 color = i < c.classes ? ui.theme->text : ui.theme->muted;
    const ImVec2 line = grid.at(0, i), column = grid.at(i, 0);
    draw_text(list, font, {grid.origin.x - grid.names, line.y + (grid.cell.y - font->FontSize) / 2},
              color, name);
    draw_upwards(list, font,
                 {column.x + (grid.cell.x - font->FontSize) / 2, grid.origin.y - ui.px(6)}, color,
                 name);
  }
  draw_text(list, font, {grid.origin.x - grid.names, grid.origin.y - grid.cell.y}, ui.theme->muted,
            tr("true class"));
}

void confusion_grid(const Panel& p, const TrainingRun& run, const Confusion& c, const Grid& grid) {
  const ImU32 muted_ink = p.ui.theme->muted;
  std::vector<std::int64_t> predicted_totals(static_cast<std::size_t>(c.classes));
  std::int64_t all = 0;
  for (int label = 0; label < c.classes; ++label) {
    std::int64_t total = 0;
    for (int j = 0; j < c.classes; ++j) {
      const std::int64_t count = c.counts[at(label, j, c.classes)];
      total += count;
      predicted_totals[static_cast<std::size_t>(j)] += count;
    }
    all += total;
    for (int j = 0; j < c.classes; ++j) confusion_cell(p, run, c, grid, label, j, total);
    centred(p, grid.at(c.classes, label), grid.cell, muted_ink, std::to_string(total));
  }
  for (int j = 0; j < c.classes; ++j) {
    centred(p, grid.at(j, c.classes), grid.cell, muted_ink,
            std::to_string(predicted_totals[static_cast<std::size_t>(j)]));
  }
  centred(p, grid.at(c.classes, c.classes), grid.cell, muted_ink, std::to_string(all));
}

}  // namespace

void draw_grey(std::span<const std::uint8_t> pixels, int columns, ImVec2 pos, float step) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const int lines = static_cast<int>(pixels.size()) / columns;
  const auto corner = [&](int x, int y) {
    return ImVec2(pos.x + step * static_cast<float>(x), pos.y + step * static_cast<float>(y));
  };
  list->AddRectFilled(pos, corner(columns, lines), styled(IM_COL32_BLACK));
  for (int y = 0; y < lines; ++y) {
    const auto line = pixels.subspan(at(y, 0, columns), static_cast<std::size_t>(columns));
    for (int x = 0; x < columns;) {
      const int grey = level(line[static_cast<std::size_t>(x)]);
      const int begin = x;
      while (x < columns && level(line[static_cast<std::size_t>(x)]) == grey) ++x;
      if (grey == 0) continue;
      const int shade = grey * 255 / (kLevels - 1);
      list->AddRectFilled(corner(begin, y), corner(x, y + 1),
                          styled(IM_COL32(shade, shade, shade, 255)));
    }
  }
}

namespace {

// Says that the network takes nearly all images for one class, as it may early; empty otherwise.
std::string one_class_sentence(const TrainingRun& run) {
  const auto& c = run.confusion();
  if (!c || c->classes < 2 || c->counts.size() != at(c->classes, 0, c->classes)) return {};
  std::int64_t all = 0, most = 0;
  int predicted = 0;
  for (int j = 0; j < c->classes; ++j) {
    std::int64_t count = 0;
    for (int i = 0; i < c->classes; ++i) count += c->counts[at(i, j, c->classes)];
    all += count;
    if (count <= most) continue;
    most = count;
    predicted = j;
  }
  constexpr double kNearlyAll = 0.9;
  const double share =
      static_cast<double>(most) / static_cast<double>(std::max<std::int64_t>(all, 1));
  if (share < kNearlyAll) return {};
  return trf("After epoch {} the network predicts {} for {} of the test images.", c->epoch,
             class_name(run, predicted), percent(share));
}

}  // namespace

void draw_predictions(const Panel& p, const TrainingRun& run) {
  if (!run.predictions() || run.predictions()->images.empty()) return;
  Card card(p, "training/images", tr("Predictions"),
            {.hint = tr("Test images with their label and the predicted class, errors first."),
             .note = data_note(run.synthetic())});
  if (!card) return;
  const auto& images = run.predictions()->images;
  if (const std::string sentence = one_class_sentence(run); !sentence.empty()) {
    body(p.ui, sentence);
    record_item(p.ui, "training/one_class", "text", sentence);
  }
  caption(p.ui, trf("After epoch {}, errors first", run.predictions()->epoch));
  const auto columns =
      static_cast<std::size_t>(std::max(1.0F, (width_left(p) + 12) / (kImageColumn + 12)));
  const std::vector<float> weights(columns, 1.0F);
  const std::size_t count = std::min({images.size(), kMaxImages, columns * 2});
  for (std::size_t first = 0; first < count; first += columns) {
    Row row(p.ui, weights);
    for (std::size_t i = first; i < std::min(first + columns, count); ++i) {
      row.next();
      draw_prediction(p, run, images[i], i, row.width());
    }
  }
}

std::string confusion_sentence(const TrainingRun& run) {
  const auto& c = run.confusion();
  if (!c || c->counts.size() != at(c->classes, 0, c->classes)) return {};
  double most = 0;
  std::int64_t mistaken = 0, of = 0;
  int label = 0, predicted = 0;
  for (int i = 0; i < c->classes; ++i) {
    std::int64_t total = 0;
    for (int j = 0; j < c->classes; ++j) total += c->counts[at(i, j, c->classes)];
    for (int j = 0; j < c->classes; ++j) {
      if (i == j || total == 0) continue;
      const std::int64_t count = c->counts[at(i, j, c->classes)];
      const double share = static_cast<double>(count) / static_cast<double>(total);
      if (share <= most) continue;
      most = share;
      mistaken = count;
      of = total;
      label = i;
      predicted = j;
    }
  }
  constexpr double kRare = 0.01;
  std::int64_t right = 0, all = 0;
  for (int i = 0; i < c->classes; ++i) {
    right += c->counts[at(i, i, c->classes)];
    for (int j = 0; j < c->classes; ++j) all += c->counts[at(i, j, c->classes)];
  }
  const double accuracy =
      static_cast<double>(right) / static_cast<double>(std::max<std::int64_t>(all, 1));
  if (most < kRare || is_guessing(accuracy, static_cast<std::size_t>(c->classes))) return {};
  return trf("Most confused: {} is mistaken for {} in {} of {} images.", class_name(run, label),
             class_name(run, predicted), mistaken, of);
}

void draw_confusion(const Panel& p, const TrainingRun& run) {
  Card card(p, "training/confusion_card", tr("Confusion"),
            {.hint = tr("Each row is the class of the test images, each column the predicted "
                        "class. Green: correct. Red: wrong."),
             .note = data_note(run.synthetic())});
  if (!card) return;
  Ui& ui = p.ui;
  const auto& c = run.confusion();
  const bool usable = c && c->classes > 0 && c->counts.size() == at(c->classes, 0, c->classes);
  if (!usable) {
    const EpochColumns& e = run.epochs();
    const bool evaluated = e.size() > 0 && std::isfinite(e.test_acc.back());
    if (run.restored() && evaluated) return draw_not_kept(p, "training/confusion_card");
    muted(ui, run.restored() ? tr("This run was not evaluated.")
                             : tr("Available after the first epoch."));
    return;
  }
  if (const std::string sentence = confusion_sentence(run); !sentence.empty()) {
    body(ui, sentence);
    record_item(ui, "training/confusion_sentence", "text", sentence);
  }
  caption(ui, trf("Columns: predicted class; after epoch {}", c->epoch));
  const float names = widest_name(p, run, c->classes) + ui.px(10);
  const auto n = static_cast<float>(c->classes + 1);
  const float width = ImGui::GetContentRegionAvail().x;
  const ImVec2 cell(std::clamp((width - names) / n, ui.px(28), ui.px(56)), ui.px(24));
  const Item item = control("training/confusion", {names + cell.x * n, names + cell.y * n});
  if (!item.visible) return;
  record(ui, item, "training/confusion", "matrix", "confusion matrix");
  const Grid grid{.origin = {item.min.x + names, item.min.y + names}, .cell = cell, .names = names};
  confusion_names(p, run, *c, grid);
  confusion_grid(p, run, *c, grid);
}

}  // namespace lab::ui
