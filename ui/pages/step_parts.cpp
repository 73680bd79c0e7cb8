#include "ui/pages/step_parts.h"

#include <algorithm>
#include <cmath>

#include "compute/core/language.h"
#include "ui/widgets/item.h"

namespace lab::ui {

ImU32 step_part_color(const Theme& theme, StepPart part) {
  constexpr int kComputeHue = 4, kAllReduceHue = 6;  // blue and reddish purple
  const ImU32 all_reduce = series_color(theme, kAllReduceHue);
  const bool dark = theme.mode == ThemeMode::Dark;
  switch (part) {
    case StepPart::Compute: return series_color(theme, kComputeHue);
    case StepPart::Hidden: return mix(theme.card, all_reduce, dark ? 0.6F : 0.8F);
    case StepPart::Waiting: return mix(theme.card, theme.muted, dark ? 0.6F : 0.7F);
    case StepPart::Exposed: return mix(all_reduce, theme.text, dark ? 0.25F : 0.3F);
  }
  return theme.muted;
}

ImU32 forward_color(const Theme& theme, ImU32 hue) {
  constexpr double kLeastContrast = 3.1;
  constexpr float kPalest = 0.6F, kStep = 0.05F;
  float share = kPalest;
  while (share < 1 && contrast(mix(theme.card, hue, share), theme.card) < kLeastContrast) {
    share += kStep;
  }
  return mix(theme.card, hue, std::min(share, 1.0F));
}

ImU32 backward_color(const Theme& theme, ImU32 hue) {
  return mix(hue, theme.text, 0.25F);
}

ImU32 once_color(const Theme& theme) {
  return theme.muted;
}

const char* name_of(StepPart part) {
  switch (part) {
    case StepPart::Compute: return tr("compute");
    case StepPart::Hidden: return tr("all-reduce, hidden");
    case StepPart::Waiting: return tr("waiting");
    case StepPart::Exposed: return tr("all-reduce, exposed");
  }
  return "";
}

const char* meaning_of(StepPart part) {
  switch (part) {
    case StepPart::Compute: return tr("Data, forward, loss, backward and update.");
    case StepPart::Hidden:
      return tr(
          "Gradient summation overlapped with compute: no waiting, but on a CPU it still uses "
          "the cores.");
    case StepPart::Waiting:
      return tr("Idle until the slowest device has finished its backward pass.");
    case StepPart::Exposed:
      return tr("Gradient summation after the last backward pass: every device waits for it.");
  }
  return "";
}

double seconds_of(const StepParts& parts, StepPart part) {
  switch (part) {
    case StepPart::Compute: return parts.compute_s;
    case StepPart::Hidden: return parts.hidden_s;
    case StepPart::Waiting: return parts.wait_s;
    case StepPart::Exposed: return parts.exposed_s;
  }
  return 0;
}

namespace {

// Thin diagonal lines in the colour of the card, so that the colour below keeps its meaning.
void draw_hatching(const Ui& ui, ImVec2 min, ImVec2 max) {
  constexpr float kApart = 6, kThick = 1.5F;  // units
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float height = max.y - min.y;
  const float apart = ui.px(kApart);
  const int last = static_cast<int>(std::ceil(max.x / apart));
  list->PushClipRect(min, max, true);
  for (int i = static_cast<int>(std::floor((min.x - height) / apart)); i < last; ++i) {
    const float x = apart * static_cast<float>(i);
    list->AddLine({x, max.y}, {x + height, min.y}, styled(ui.theme->card), ui.px(kThick));
  }
  list->PopClipRect();
}

}  // namespace

float draw_step_parts(const Ui& ui, const PartsBar& bar, const StepParts& parts) {
  if (bar.full_s <= 0) return bar.left;
  const auto at = [&](double seconds) {
    return std::round(bar.left + (bar.right - bar.left) * static_cast<float>(seconds / bar.full_s));
  };
  double done = 0;
  for (const StepPart part : kStepParts) {
    const double next = done + seconds_of(parts, part);
    const float right = next > done ? std::max(at(next), at(done) + 1) : at(next);
    if (right > at(done)) {
      ImGui::GetWindowDrawList()->AddRectFilled({at(done), bar.top}, {right, bar.bottom},
                                                styled(step_part_color(*ui.theme, part)));
    }
    done = next;
  }
  if (bar.hatched) draw_hatching(ui, {bar.left, bar.top}, {at(done), bar.bottom});
  return at(done);
}

void draw_swatch(const Ui& ui, ImVec2 min, ImVec2 max, const Swatch& swatch) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  if (!swatch.hollow) {
    list->AddRectFilled(min, max, styled(swatch.color), ui.px(2));
    if (swatch.hatched) draw_hatching(ui, min, max);
    return;
  }
  const float half = ui.px(0.75F);
  list->AddRect({min.x + half, min.y + half}, {max.x - half, max.y - half}, styled(swatch.color),
                ui.px(2), 0, 2 * half);
}

void swatch_legend(const Panel& p, const std::vector<Swatch>& swatches) {
  Ui& ui = p.ui;
  ImFont* font = ui.fonts.caption;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImVec2 start = ImGui::GetCursorScreenPos();
  const float right = start.x + ImGui::GetContentRegionAvail().x, line = ui.px(20);
  const float side = ui.px(10), indent = ui.px(16);
  ImVec2 pos = start;
  for (const Swatch& swatch : swatches) {
    const float width = indent + text_size(font, swatch.text).x;
    if (pos.x > start.x && pos.x + width > right) pos = {start.x, pos.y + line};
    const float top = pos.y + (line - side) / 2;
    draw_swatch(ui, {pos.x, top}, {pos.x + side, top + side}, swatch);
    draw_text_fitted(list, font, {pos.x + indent, pos.y + (line - font->FontSize) / 2},
                     right - pos.x - indent, ui.theme->muted, swatch.text);
    if (swatch.meaning != nullptr) {
      hint_at(ui, pos, {std::min(pos.x + width, right), pos.y + line}, swatch.meaning);
    }
    pos.x += width + indent;
  }
  ImGui::Dummy({right - start.x, pos.y + line - start.y});
}

void step_part_legend(const Panel& p, bool predicted, bool copies) {
  std::vector<Swatch> swatches;
  swatches.reserve(std::size(kStepParts) + 1);
  for (const StepPart part : kStepParts) {
    const bool copied = copies && part == StepPart::Exposed;
    swatches.push_back({copied ? tr("copies, exposed") : name_of(part),
                        step_part_color(*p.ui.theme, part),
                        copied ? tr("Parameters and gradients on their way between the devices.")
                               : meaning_of(part)});
  }
  if (predicted) {
    swatches.push_back({.text = tr("hatched: predicted"),
                        .color = p.ui.theme->muted,
                        .meaning = tr("Calculated, not measured; the colours mean the same."),
                        .hatched = true});
  }
  swatch_legend(p, swatches);
}

}  // namespace lab::ui
