#include "ui/pages/run_tabs.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "compute/core/language.h"
#include "compute/core/units.h"
#include "ui/widgets/item.h"

namespace lab::ui {

namespace {

// Right of the tabs.
struct RunPart {
  float width = 0;  // pixels
  float drop = 0;   // from the top of the tabs, pixels
  std::function<void()> draw;
};

class RunParts {
 public:
  RunParts(const Panel& p, Page page) : p_(p), key_(key_of(page)) {}

  void add_measured(std::time_t measured) {
    add_caption(when_measured(measured), 0, [this](const std::string& text) {
      caption(p_.ui, text);
      record_item(p_.ui, key_ + "/measured", "text", text);
      hint(p_.ui, tr("Results of an earlier session. A new run replaces them."));
    });
  }

  // Also that the run was stopped.
  void add_stopped(double seconds) {
    add_caption(
        trf("Stopped after {}", format_seconds(seconds)), 0, [this](const std::string& text) {
          caption(p_.ui, text);
          record_item(p_.ui, key_ + "/stopped", "note", text);
          hint(p_.ui, tr("What was measured until then is shown; if nothing was, the run before."));
        });
  }

  void add_others(double share, const std::string& why, bool marked) {
    constexpr float kMark = kWarningSide + 6;
    add_caption(trf("Others took {} of the cores", percent(share)), marked ? kMark : 0,
                [this, why, marked](const std::string& text) {
                  const std::string path = key_ + "/others";
                  if (marked) return warning_key(p_, path, text, why);
                  caption(p_.ui, text);
                  record_item(p_.ui, path, "note", text);
                  hint(p_.ui, why);
                });
  }

  void add_button(std::string_view name, const char* label, const std::string& text, bool& pressed,
                  bool enabled = true) {
    const std::string path = fmt::format("{}/{}", key_, name);
    parts_.push_back({p_.ui.px(button_width(p_.ui, label)), 0, [=, this, &pressed] {
                        pressed = button(p_.ui, path, label, {.enabled = enabled, .hint = text});
                      }});
  }

  // At the right edge of the line that begins at `top_left` and is taken up to `left`, or below it
  // where the line is too short.
  void draw(ImVec2 top_left, float left) const {
    if (parts_.empty()) return;
    const float gap = p_.ui.px(12), right = top_left.x + ImGui::GetContentRegionAvail().x;
    float width = -gap;
    for (const RunPart& part : parts_) width += part.width + gap;
    const bool fits = left + gap + width <= right;
    const float below = ImGui::GetCursorScreenPos().y;
    ImVec2 at = fits ? ImVec2{right - width, top_left.y} : ImVec2{top_left.x, below};
    for (const RunPart& part : parts_) {
      if (at.x > top_left.x && at.x + part.width > right + 1) {
        at = {top_left.x, at.y + p_.ui.px(kControlHeight + 8)};
      }
      ImGui::SetCursorScreenPos({at.x, at.y + part.drop});
      part.draw();
      at.x += part.width + gap;
    }
    const float end = at.y + p_.ui.px(kControlHeight) + ImGui::GetStyle().ItemSpacing.y;
    ImGui::SetCursorScreenPos({top_left.x, std::max(below, end)});
  }

 private:
  void add_caption(std::string text, float before, std::function<void(const std::string&)> draw) {
    const Ui& ui = p_.ui;
    const float width = text_size(ui.fonts.caption, text).x + ui.px(before);
    const float drop = (ui.px(kControlHeight) - ui.fonts.caption->FontSize) / 2;
    parts_.push_back(
        {width, drop, [text = std::move(text), draw = std::move(draw)] { draw(text); }});
  }

  const Panel& p_;
  std::string key_;
  std::vector<RunPart> parts_;
};

}  // namespace

void choose_kind(const Panel& p, Page page, RunTabs& tabs, RunKind last,
                 std::span<const RunKind> offered) {
  if (const JobId job = p.model.state(page).job; job != tabs.job) {
    tabs = {.kind = static_cast<int>(last), .job = job};
  }
  if (std::ranges::find(offered, static_cast<RunKind>(tabs.kind)) == offered.end()) {
    tabs.kind = static_cast<int>(offered.front());
  }
}

bool draw_run_tabs(const Panel& p, Page page, RunTabs& tabs, std::span<const std::string> titles,
                   std::span<const RunKind> offered, const RunState& state) {
  Ui& ui = p.ui;
  const PageState& job = p.model.state(page);
  const ImVec2 top_left = ImGui::GetCursorScreenPos();
  float left = top_left.x;
  const auto shown = std::ranges::find(offered, static_cast<RunKind>(tabs.kind));
  int index = static_cast<int>(shown - offered.begin());
  if (offered.size() > 1) {
    const std::string path = fmt::format("{}/tab", key_of(page));
    if (segmented(ui, path, "", titles, index, tr("Each kind of run keeps its results."))) {
      tabs.kind = static_cast<int>(offered[static_cast<std::size_t>(index)]);
      tabs.replaced = false;
    }
    left = ImGui::GetItemRectMax().x;
  }
  tabs.replaced = tabs.replaced && state.has_replaced;

  RunParts parts(p, page);
  if (state.measured > 0) parts.add_measured(state.measured);
  if (state.last && job.phase == Phase::Done && job.cancelled) parts.add_stopped(job.seconds);
  const bool disturbed = state.others > 0;
  if (disturbed) {
    const Figures figures = state.has_marks ? Figures::Marked : Figures::Steady;
    const auto programs = state.last ? job.programs : std::vector<std::string>();
    parts.add_others(state.others, others_text(state.others, figures, programs), state.has_marks);
  }
  bool again = false, toggled = false;
  if ((state.has_marks || (state.last && disturbed)) && !runs(p, page)) {
    const std::string why = busy_reason(p);
    const std::string repeats =
        tr("Repeats the run shown with its own settings, not those of the form.");
    parts.add_button("measure_again", tr("Measure again"), why.empty() ? repeats : why, again,
                     why.empty());
  }
  if (state.has_replaced) {
    parts.add_button("replaced",
                     tabs.replaced ? tr("Back to the last run") : tr("Show the previous run"),
                     tr("The last run replaced the results of the run before. They can be seen "
                        "again until a later run replaces them."),
                     toggled);
  }
  parts.draw(top_left, left);
  if (toggled) tabs.replaced = !tabs.replaced;
  return again;
}

}  // namespace lab::ui
