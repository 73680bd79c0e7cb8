#include <fmt/format.h>

#include <algorithm>

#include "compute/core/units.h"
#include "ui/pages/frame.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/item.h"
#include "ui/widgets/tooltip.h"

namespace lab::ui {
namespace {

// Lays things out from the right edge inwards.
struct RightToLeft {
  const Panel& p;
  float x, middle;
  float take(float units) {
    x -= p.ui.px(units);
    return x;
  }
};

void lab_cpu(RightToLeft& at) {
  Ui& ui = at.p.ui;
  const std::string text = fmt::format("lab {:.1f} % CPU", at.p.model.lab_cpu() * 100);
  ImFont* font = ui.fonts.caption;
  const float width = std::max(text_size(font, text).x, ui.px(92));
  at.x -= width + ui.px(12);
  const ImVec2 pos(at.x, at.middle - font->FontSize / 2);
  draw_text(ImGui::GetWindowDrawList(), font, pos, ui.theme->muted, text);
  const ImVec2 max(pos.x + width, pos.y + font->FontSize);
  record_rect(ui, "status/lab_cpu", "text", text, {}, true, pos, max);
  hint_at(ui, pos, max,
          fmt::format("Share of one core that the lab itself used since the last reading, and {} "
                      "of memory.",
                      format_bytes(at.p.model.lab_rss_bytes())));
}

void job_buttons(RightToLeft& at) {
  const Panel& p = at.p;
  at.take(68);
  ImGui::SetCursorScreenPos({at.x, at.middle - p.ui.px(16)});
  if (button(p.ui, "status/cancel", "Stop",
             {.kind = ButtonKind::Danger,
              .enabled = true,
              .hint = "Stops the running job; what was measured stays. Esc asks first.",
              .width = 60})) {
    cancel(p);
  }
  if (!runs(p, JobKind::Training)) return;
  at.take(40);
  ImGui::SetCursorScreenPos({at.x, at.middle - p.ui.px(16)});
  const bool held = paused(p);
  if (icon_button(p.ui, "status/pause", held ? kIconPlay : kIconPause,
                  held ? "Goes on with the training, Space" : "Pauses the training, Space")) {
    toggle_pause(p);
  }
}

void job_progress(RightToLeft& at, const RunningJob& job) {
  Ui& ui = at.p.ui;
  std::string left = percent(job.done);
  if (job.left_s) left += ", " + format_seconds(*job.left_s) + " left";
  if (paused(at.p)) left = "paused at " + percent(job.done);
  ImFont* font = ui.fonts.caption;
  at.x -= std::max(text_size(font, left).x, ui.px(110)) + ui.px(12);
  const float y = at.middle - font->FontSize / 2;
  draw_text(ImGui::GetWindowDrawList(), font, {at.x, y}, ui.theme->muted, left);
  if (at.p.width < 760) return;
  const float width = at.p.width < 1000 ? 120 : 200;
  at.take(width + 12);
  ImGui::SetCursorScreenPos({at.x, at.middle - ui.px(4)});
  progress_bar(ui, "status/progress", job.done, width, 8);
}

struct Face {
  Icon icon;
  ImU32 color;
};

Face face_of(const Panel& p) {
  const Theme& theme = *p.ui.theme;
  if (p.model.job()) return {paused(p) ? kIconPause : kIconPlay, theme.accent};
  const auto& log = p.model.log();
  const Severity last = log.empty() ? Severity::Info : log.back().severity;
  switch (last) {
    case Severity::Error: return {kIconError, theme.bad};
    case Severity::Warning: return {kIconWarning, theme.warning};
    case Severity::Info: break;
  }
  return {kIconCheck, theme.muted};
}

// Idle, the newest line of the log stands in the bar.
std::string text_of(const Model& model) {
  if (const auto& job = model.job()) {
    return job->what.empty() ? job->title : job->title + "   " + job->what;
  }
  return model.log().empty() ? "Ready" : model.log().back().text;
}

void job_text(const RightToLeft& at, float left) {
  const Panel& p = at.p;
  Ui& ui = p.ui;
  const float side = ui.px(18);
  const Face face = face_of(p);
  draw_icon(ImGui::GetWindowDrawList(), face.icon, {left, at.middle - side / 2}, side,
            styled(face.color));
  const std::string text = text_of(p.model);
  ImFont* font = ui.fonts.body;
  const ImVec2 pos(left + side + ui.px(8), at.middle - font->FontSize / 2);
  const float width = std::max(0.0F, at.x - pos.x - ui.px(12));
  if (draw_text_fitted(ImGui::GetWindowDrawList(), font, pos, width,
                       p.model.job() ? ui.theme->text : ui.theme->muted, text)) {
    hint_at(ui, pos, {pos.x + width, pos.y + font->FontSize}, text);
  }
  record_rect(ui, "status/job", "text", text, {}, true, pos,
              {pos.x + width, pos.y + font->FontSize});
}

}  // namespace

void draw_status_bar(const Panel& p) {
  Ui& ui = p.ui;
  const ImVec2 corner = ImGui::GetWindowPos();
  const ImVec2 size = ImGui::GetWindowSize();
  ImGui::GetWindowDrawList()->AddLine(corner, {corner.x + size.x, corner.y},
                                      styled(ui.theme->border));
  RightToLeft at{p, corner.x + size.x - ui.px(4), corner.y + size.y / 2};
  lab_cpu(at);
  if (p.model.job()) {
    job_buttons(at);
    job_progress(at, *p.model.job());
  }
  job_text(at, corner.x + ui.px(14));
}

}  // namespace lab::ui
