// Test images with the network's predictions, and the confusion matrix.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

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

// Draws sixteen grey levels. Adjacent pixels of one level in a line become one rectangle; black
// pixels become none.
void draw_pixels(ImDrawList* list, const PredictedImage& image, ImVec2 pos, float side) {
  list->AddRectFilled(pos, {pos.x + side, pos.y + side}, styled(IM_COL32(0, 0, 0, 255)));
  const float step = side / kSide;
  for (int y = 0; y < kSide; ++y) {
    const std::uint8_t* line = &image.pixels[at(y, 0, kSide)];
    for (int x = 0; x < kSide;) {
      const int grey = level(line[x]);
      const int begin = x;
      while (x < kSide && level(line[x]) == grey) ++x;
      if (grey == 0) continue;
      const int shade = grey * 255 / (kLevels - 1);
      list->AddRectFilled(
          {pos.x + step * static_cast<float>(begin), pos.y + step * static_cast<float>(y)},
          {pos.x + step * static_cast<float>(x), pos.y + step * static_cast<float>(y + 1)},
          styled(IM_COL32(shade, shade, shade, 255)));
    }
  }
}

void draw_prediction(const Panel& p, const TrainingRun& run, const PredictedImage& image,
                     std::size_t i, float width) {
  Ui& ui = p.ui;
  const float side = std::floor(std::min(width, ui.px(84)) / kSide) * kSide;
  ImFont* font = ui.fonts.caption;
  const float line = font->FontSize + ui.px(2);
  const std::string path = fmt::format("training/image/{}", i);
  const Item item = control(path, {width, side + 2 * line + ui.px(2)});
  if (!item.visible) return;
  ImDrawList* list = ImGui::GetWindowDrawList();
  draw_pixels(list, image, item.min, side);
  const bool right = image.label == image.predicted;
  const std::string label = class_name(run, image.label);
  const std::string predicted = class_name(run, image.predicted);
  const float y = item.min.y + side + ui.px(2);
  draw_text_fitted(list, font, {item.min.x, y}, width, ui.theme->text, label);
  draw_text_fitted(list, font, {item.min.x, y + line}, width,
                   right ? ui.theme->good : ui.theme->bad,
                   right ? trf("correct, {:.0f} %", image.confidence * 100)
                         : fmt::format("→ {} {:.0f} %", predicted, image.confidence * 100));
  hint(ui, trf("Label: {}\nPrediction: {}, confidence {:.1f} %", label, predicted,
               image.confidence * 100));
  record(ui, item, path, "image", label, predicted);
}

void confusion_cell(const Panel& p, const TrainingRun& run, const Confusion& c, int label,
                    int predicted, double row_total, ImVec2 min, ImVec2 max) {
  Ui& ui = p.ui;
  const std::int64_t count = c.counts[at(label, predicted, c.classes)];
  const double share = row_total > 0 ? static_cast<double>(count) / row_total : 0;
  // The square root keeps rare confusions visible beside the diagonal.
  const ImU32 ink = label == predicted ? ui.theme->good : ui.theme->bad;
  const ImU32 fill = mix(ui.theme->raised, ink, static_cast<float>(std::sqrt(share)));
  ImGui::GetWindowDrawList()->AddRectFilled(min, max, styled(fill), ui.px(2));
  hint_at(ui, min, max,
          trf("{} classified as {}\n{} of {:.0f} test images, {}", class_name(run, label),
              class_name(run, predicted), count, row_total, percent(share)));
}

void confusion_grid(const Panel& p, const TrainingRun& run, const Confusion& c, ImVec2 origin,
                    ImVec2 cell) {
  Ui& ui = p.ui;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float label_width = ui.px(84);
  const float gap = ui.px(1);
  for (int label = 0; label < c.classes; ++label) {
    double total = 0;
    for (int j = 0; j < c.classes; ++j) {
      total += static_cast<double>(c.counts[at(label, j, c.classes)]);
    }
    const float y = origin.y + cell.y * static_cast<float>(label);
    draw_text_fitted(list, ui.fonts.caption,
                     {origin.x, y + (cell.y - ui.fonts.caption->FontSize) / 2},
                     label_width - ui.px(6), ui.theme->muted, class_name(run, label));
    for (int predicted = 0; predicted < c.classes; ++predicted) {
      const float x = origin.x + label_width + cell.x * static_cast<float>(predicted);
      confusion_cell(p, run, c, label, predicted, total, {x + gap, y + gap},
                     {x + cell.x - gap, y + cell.y - gap});
    }
  }
}

}  // namespace

void draw_predictions(const Panel& p, const TrainingRun& run) {
  if (!run.predictions() || run.predictions()->images.empty()) return;
  Card card(p, "training/images",
            run.synthetic() ? tr("Predictions   (synthetic data)") : tr("Predictions"),
            {.hint = tr("Test images with their label and the predicted class, errors first.")});
  if (!card) return;
  const auto& images = run.predictions()->images;
  caption(p.ui, trf("After epoch {}, errors first", run.predictions()->epoch));
  const auto columns = static_cast<std::size_t>(std::max(1.0F, width_left(p) / (84 + 12)));
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

void draw_confusion(const Panel& p, const TrainingRun& run) {
  Card card(p, "training/confusion_card",
            run.synthetic() ? tr("Confusion   (synthetic data)") : tr("Confusion"),
            {.hint = tr("Each row is the class of the test images, each column the predicted "
                        "class. Green: correct. Red: wrong.")});
  if (!card) return;
  Ui& ui = p.ui;
  const auto& c = run.confusion();
  const bool usable = c && c->classes > 0 && c->counts.size() == at(c->classes, 0, c->classes);
  if (!usable) {
    muted(ui, tr("Available after the first epoch."));
    return;
  }
  const float width = ImGui::GetContentRegionAvail().x;
  const auto n = static_cast<float>(c->classes);
  const ImVec2 cell(std::min(ui.px(40), (width - ui.px(84)) / n), ui.px(20));
  const Item item = control("training/confusion", {ui.px(84) + cell.x * n, cell.y * n});
  if (!item.visible) return;
  record(ui, item, "training/confusion", "matrix", "confusion matrix");
  confusion_grid(p, run, *c, item.min, cell);
  caption(ui, trf("Columns in the same order; after epoch {}", c->epoch));
}

}  // namespace lab::ui
