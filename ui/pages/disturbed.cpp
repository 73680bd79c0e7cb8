// What is said of programs that disturb now and of a disturbed run, and the marks of its figures.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <imgui.h>

#include <string>

#include "compute/core/events/program_text.h"
#include "compute/core/events/stats.h"
#include "compute/core/language.h"
#include "ui/model/scaling_results.h"
#include "ui/pages/panel.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/item.h"

namespace lab::ui {

namespace {

bool times_something(Page page) {
  return entry_of(page).timed || page == Page::Training;
}

bool are_cores_busy(const CoreUse& use) {
  constexpr double kNotable = 0.1;  // of all cores
  const OtherLoad lately = use.others_lately();
  return use.threads > 0 && lately.programs + lately.host >= kNotable * use.threads;
}

// The other programs that use most of the cores: "firefox, cc1plus"; empty if unknown.
std::string disturbers_text(const Model& model) {
  if (model.programs() == nullptr) return {};
  return fmt::format("{}", fmt::join(disturbers(*model.programs()), tr(", ")));
}

}  // namespace

bool shows_programs(const Model& model, const ViewState& view) {
  return view.names_programs && !(model.job() && entry_of(model.job()->page).timed);
}

void busy_cores_note(const Panel& p) {
  const Page page = p.view.page;
  const CoreUse& use = p.model.core_use();
  const OtherLoad lately = use.others_lately();
  const double others = lately.programs + lately.host;
  if (!times_something(page) || busy(p)) return;
  if (page == Page::Learn && !shows_timed_lesson(p)) return;
  if (!are_cores_busy(use)) return;
  p.view.names_programs = true;
  const std::string cores = of_cores(p.model, others);
  const std::string names = disturbers_text(p.model);
  constexpr double kMostly = 0.8;  // of what others take
  const bool programs = lately.programs > kMostly * others;
  const std::string text =
      programs && !names.empty()
          ? trf("Other programs use {} now: {}. Results will vary.", cores, names)
      : programs ? trf("Other programs use {} now; results will vary.", cores)
      : lately.host > kMostly * others
          ? trf("The host of this virtual machine takes {} now; results will vary.", cores)
          : trf("Other programs and the host of this virtual machine use {} now; results will "
                "vary.",
                cores);
  footnote(p.ui, text);
  record_item(p.ui, fmt::format("{}/busy_cores", key_of(page)), "note", text);
}

std::string others_text(double share, Figures figures, std::span<const std::string> programs) {
  const std::string took = percent(share);
  std::string text =
      figures == Figures::Unmarked
          ? trf("Other programs or the host took {} of the cores' time during this run.", took)
      : figures == Figures::Steady
          ? trf("Other programs or the host took {} of the cores' time; all figures are still "
                "steady.",
                took)
          : trf("Other programs or the host took {} of the cores' time: marked figures may be "
                "worse than the device can do.",
                took);
  if (programs.empty()) return text;
  return text + " " +
         trf("Busiest just before: {}.", fmt::format("{}", fmt::join(programs, tr(", "))));
}

void others_note(const Panel& p, std::string_view path, double share, Figures figures,
                 std::span<const std::string> programs) {
  if (share <= 0) return;
  const std::string text = others_text(share, figures, programs);
  if (figures == Figures::Marked) {
    warning_box(p.ui, path, text);
  } else {
    note_box(p.ui, path, text);
  }
}

void draw_warning(const Ui& ui, ImVec2 left_middle) {
  const float side = ui.px(kWarningSide);
  draw_icon(ImGui::GetWindowDrawList(), kIconWarning, {left_middle.x, left_middle.y - side / 2},
            side, styled(ui.theme->warning));
}

void warning_mark(const Panel& p, const std::string& path, const std::string& why, float height) {
  Ui& ui = p.ui;
  if (why.empty()) return;
  ImGui::SameLine(0, ui.px(4));
  const ImVec2 pos = ImGui::GetCursorScreenPos();
  ImGui::Dummy({ui.px(kWarningSide), height});
  draw_warning(ui, {pos.x, pos.y + height / 2});
  record_item(ui, path + "/disturbed", "text", why);
  hint(ui, why);
}

void warning_key(const Panel& p, std::string_view path, std::string_view text,
                 std::string_view explanation) {
  Ui& ui = p.ui;
  const ImVec2 pos = ImGui::GetCursorScreenPos();
  draw_warning(ui, {pos.x, pos.y + ui.fonts.caption->FontSize / 2});
  ImGui::SetCursorScreenPos({pos.x + ui.px(kWarningSide + 6), pos.y});
  caption(ui, text);
  record_item(ui, path, "text", text);
  hint(ui, explanation);
}

void unsteady_key(const Panel& p, std::string_view path, std::string_view more) {
  std::string why =
      tr("The time limit was reached before the spread fell below 2 %, or the times "
         "vary by more than a quarter.");
  if (!more.empty()) why.append("\n").append(more);
  warning_key(p, path, tr("Unsteady repetitions; whiskers show p10 to p90."), why);
}

void warning_sentence(const Panel& p, std::string_view path, std::string_view text) {
  Ui& ui = p.ui;
  Row row(ui, {-kWarningSide, 1});
  row.next();
  const ImVec2 pos = ImGui::GetCursorScreenPos();
  draw_warning(ui, {pos.x, pos.y + ui.fonts.body->FontSize / 2});
  row.next();
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() - ui.px(6));
  body(ui, text);
  record_item(ui, path, "warning", text);
}

std::string half_spread(const Timing& t) {
  return half_range(t.p10_s, t.p90_s, t.median_s, t.n);
}

std::string with_spread(const std::string& figure, const Timing& t) {
  const std::string spread = half_spread(t);
  return spread.empty() ? figure : fmt::format("{} ({})", figure, spread);
}

std::string why_unsteady(const Timing& t) {
  std::string why;
  if (t.unstable && !has_few_repetitions(t))
    why = tr("The time limit was reached before the spread fell below 2 %.");
  if (!varies_much(t.p10_s, t.p90_s)) return why;
  if (!why.empty()) why += "\n";
  return why + trf("The repetitions vary: half of the range from p10 to p90 is {} of the median.",
                   percent((t.p90_s - t.p10_s) / 2 / t.median_s));
}

void measure_again_button(const Panel& p, std::string_view path, const Command& command) {
  const std::string why = busy_reason(p);
  if (button(p.ui, path, tr("Measure again"), {.enabled = why.empty(), .hint = why})) {
    send(p, command);
  }
}

}  // namespace lab::ui
