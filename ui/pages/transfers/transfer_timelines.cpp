// What ran when on the streams of a GPU: a row a stream, a bar a piece of work.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "compute/core/units.h"
#include "ui/pages/transfers/transfer_parts.h"
#include "ui/widgets/item.h"
#include "ui/widgets/tooltip.h"

namespace lab::ui {
namespace {

std::vector<std::string> streams_of(const TransferTimeline& timeline) {
  std::vector<std::string> streams;
  for (const TransferSpan& span : timeline.spans) {
    if (std::find(streams.begin(), streams.end(), span.stream) == streams.end()) {
      streams.push_back(span.stream);
    }
  }
  return streams;
}

std::string summary(const TransferTimeline& t) {
  return fmt::format("{}: parts of {}: {} on three streams, {} on one; median of {} runs each.",
                     lab::to_string(t.device), format_bytes(t.bytes),
                     format_seconds(t.overlapped_s), format_seconds(t.serial_s), t.runs);
}

void bars(const Panel& p, const TransferTimeline& timeline) {
  Ui& ui = p.ui;
  const std::vector<std::string> streams = streams_of(timeline);
  const float label = ui.px(72), row_height = ui.px(24);
  const float width = std::max(ui.px(80), ImGui::GetContentRegionAvail().x - label);
  const std::string path = "transfers/timeline/" + lab::to_string(timeline.device);
  const Item item = control(path, {label + width, row_height * static_cast<float>(streams.size())});
  if (!item.visible) return;
  record(ui, item, path, "timeline", "streams of " + lab::to_string(timeline.device));
  double end_s = 0;
  for (const TransferSpan& span : timeline.spans) end_s = std::max(end_s, span.end_s);
  if (end_s <= 0) return;
  ImDrawList* list = ImGui::GetWindowDrawList();
  for (std::size_t row = 0; row < streams.size(); ++row) {
    const float y = item.min.y + row_height * static_cast<float>(row);
    draw_text(list, ui.fonts.caption, {item.min.x, y + ui.px(5)}, ui.theme->muted, streams[row]);
    for (const TransferSpan& span : timeline.spans) {
      if (span.stream != streams[row]) continue;
      const auto at = [&](double t_s) {
        return item.min.x + label + width * static_cast<float>(t_s / end_s);
      };
      const ImVec2 min{at(span.begin_s), y + 2}, max{at(span.end_s) - 1, y + row_height - 2};
      list->AddRectFilled(min, max, styled(series_color(*ui.theme, static_cast<int>(row))),
                          ui.px(3));
      hint_at(ui, min, max,
              fmt::format("{}: {} to {}", span.what, format_seconds(span.begin_s),
                          format_seconds(span.end_s)));
    }
  }
}

}  // namespace

void draw_transfer_timelines(const Panel& p, const Kept<TransferResults>& kept) {
  const TransferResults& results = shown(kept);
  if (results.timelines.empty()) return;
  Card card(p, "transfers/timelines", "Copies overlapped with a kernel",
            {.hint = "Events before and after each piece of work, on three streams of the GPU.",
             .dimmed = is_old(kept)});
  if (!card) return;
  for (const TransferTimeline& timeline : results.timelines) {
    body(p.ui, summary(timeline));
    bars(p, timeline);
  }
}

}  // namespace lab::ui
