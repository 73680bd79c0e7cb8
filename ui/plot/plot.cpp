#include "ui/plot/plot.h"

#include <fmt/format.h>
#include <imgui_internal.h>

#include <algorithm>
#include <string>

#include "ui/plot/frame.h"
#include "ui/widgets/item.h"
#include "ui/widgets/widgets.h"

namespace lab::ui::plot {
namespace {

void draw_empty_text(const Frame& f) {
  if (!f.empty() || f.options.empty_text.empty()) return;
  ImFont* font = f.ui.fonts.body;
  const float wrap = std::max(f.ui.px(80), f.area_max.x - f.area_min.x - f.ui.px(32));
  const std::string_view text = f.options.empty_text;
  const ImVec2 size =
      font->CalcTextSizeA(font->FontSize, FLT_MAX, wrap, text.data(), text.data() + text.size());
  draw_text_centred(ImGui::GetWindowDrawList(), font,
                    {(f.area_min.x + f.area_max.x) / 2, (f.area_min.y + f.area_max.y - size.y) / 2},
                    wrap, f.ui.theme->muted, text);
}

}  // namespace

void draw(Ui& ui, std::string_view path, const Axes& axes, std::span<const Series> series,
          const Options& options, Commands& out) {
  const ImVec2 pos = ImGui::GetCursorScreenPos();
  const ImVec2 avail = ImGui::GetContentRegionAvail();
  const float least = options.height > 0 ? ui.px(options.height) : ui.px(120);
  const bool fills = options.grows || options.height <= 0;
  const float height = fills ? std::max(std::floor(avail.y), least) : least;
  if (options.grows) grown_in_card(ui, height - least);
  const ImVec2 end(pos.x + std::max(avail.x, ui.px(80)), pos.y + height);
  ImGui::ItemSize(ImVec2(end.x - pos.x, height));
  if (!ImGui::ItemAdd(ImRect(pos, end), 0)) return;
  const ImGuiLastItemData whole = GImGui->LastItemData;

  Frame f{.ui = ui,
          .path = std::string(path),
          .axes = axes,
          .series = series,
          .options = options,
          .state = ui.plots[std::string(path)],
          .min = pos,
          .max = end,
          .x = {},
          .y = {},
          .x_ticks = {},
          .y_ticks = {},
          .curves = {},
          .lit = {}};
  arrange(f, legend(f));
  interact(f);
  draw_grid(f);
  draw_curves(f);
  draw_references(f);
  draw_notes(f);
  draw_line_labels(f);
  draw_axis_text(f);
  draw_empty_text(f);
  draw_cursor(f);
  draw_box(f);
  tooltip(f);
  menu(f, out);
  data_table(f);
  GImGui->LastItemData = whole;
  record_rect(ui, path, "plot", axes.y.label,
              fmt::format("x {:.6g}..{:.6g} y {:.6g}..{:.6g}", f.x.range.min, f.x.range.max,
                          f.y.range.min, f.y.range.max),
              true, pos, end);
}

}  // namespace lab::ui::plot
