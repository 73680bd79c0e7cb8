#include <fmt/format.h>

#include <cmath>

#include "compute/core/units.h"
#include "ui/pages/frame.h"
#include "ui/widgets/item.h"
#include "ui/widgets/tooltip.h"

namespace lab::ui {
namespace {

struct Chip {
  std::string path, name, value, text;
  ImU32 color = 0;
};

Chip device_chip(const Panel& p, Device device) {
  const DeviceTelemetry& last = p.model.history(device).last;
  Chip chip;
  chip.name = lab::to_string(device);
  chip.path = "title/" + chip.name;
  chip.color = device_color(*p.ui.theme, device);
  chip.value = percent(last.utilisation);
  const std::int64_t used = p.model.memory(device).used;
  if (used > 0) chip.value += "  " + format_bytes(used);
  chip.text = last.utilisation
                  ? fmt::format("{}: its cores were busy {} of the time since the reading before",
                                chip.name, percent(*last.utilisation))
                  : fmt::format("{}: utilisation is not available: {}", chip.name,
                                last.utilisation.reason());
  chip.text += fmt::format("\nthe lab's tensors hold {} there", format_bytes(used));
  return chip;
}

float chip_width(const Ui& ui, const Chip& chip) {
  return text_size(ui.fonts.caption, chip.name).x + text_size(ui.fonts.caption, chip.value).x +
         ui.px(8 + 8 + 6 + 8 + 10);
}

void draw_chip(Ui& ui, const Chip& chip, float left, float middle, float width) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  ImFont* font = ui.fonts.caption;
  const ImVec2 min(left, middle - ui.px(13));
  const ImVec2 max(left + width, middle + ui.px(13));
  list->AddRectFilled(min, max, styled(ui.theme->raised), ui.px(6));
  list->AddCircleFilled({left + ui.px(12), middle}, ui.px(4), styled(chip.color));
  const float y = middle - font->FontSize / 2;
  const float x = left + ui.px(22);
  const float name = draw_text(list, font, {x, y}, ui.theme->muted, chip.name);
  draw_text(list, font, {x + name + ui.px(8), y}, ui.theme->text, chip.value);
  record_rect(ui, chip.path, "chip", chip.name, chip.value, true, min, max);
  hint_at(ui, min, max, chip.text);
}

bool shows_synthetic(const Panel& p) {
  return p.view.page == Page::Training && !p.model.runs().empty() &&
         p.model.runs().back().synthetic();
}

// Chips of as many devices as fit, from the right edge; returns where they begin.
float draw_chips(const Panel& p, float left_end, float right, float middle) {
  Ui& ui = p.ui;
  std::size_t hidden = 0;
  float width_of_all = 0;
  std::vector<Chip> chips;
  for (const Device device : p.model.devices()) {
    if (chips.size() >= 8) {
      ++hidden;
      continue;
    }
    chips.push_back(device_chip(p, device));
    width_of_all += chip_width(ui, chips.back()) + ui.px(8);
  }
  while (!chips.empty() && width_of_all > right - left_end - ui.px(48)) {
    width_of_all -= chip_width(ui, chips.back()) + ui.px(8);
    chips.pop_back();
    ++hidden;
  }
  float x = right - width_of_all - (hidden > 0 ? ui.px(40) : 0);
  const float begin = x;
  for (const Chip& chip : chips) {
    const float width = chip_width(ui, chip);
    draw_chip(ui, chip, x, middle, width);
    x += width + ui.px(8);
  }
  if (hidden > 0) {
    draw_text(ImGui::GetWindowDrawList(), ui.fonts.caption,
              {x, middle - ui.fonts.caption->FontSize / 2}, ui.theme->muted,
              fmt::format("+{}", hidden));
  }
  return begin;
}

}  // namespace

void draw_title_bar(const Panel& p) {
  Ui& ui = p.ui;
  const ImVec2 corner = ImGui::GetWindowPos();
  const ImVec2 size = ImGui::GetWindowSize();
  const float middle = corner.y + size.y / 2;
  ImGui::SetCursorScreenPos({corner.x + ui.px(16), middle - ui.fonts.title->FontSize / 2});
  title(ui, name_of(p.view.page));
  record_item(ui, "title/page", "text", name_of(p.view.page));
  float end = ImGui::GetItemRectMax().x;
  if (shows_synthetic(p)) {
    ImGui::SetCursorScreenPos({end + ui.px(12), middle - ui.px(10)});
    badge(ui, "synthetic", Tone::Warning);
    record_item(ui, "title/synthetic", "badge", "synthetic");
    hint(ui, "The training on this page uses made-up images, not a real data set.");
    end = ImGui::GetItemRectMax().x;
  }
  draw_chips(p, end, corner.x + size.x - ui.px(8), middle);
}

}  // namespace lab::ui
