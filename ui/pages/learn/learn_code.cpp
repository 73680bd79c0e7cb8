// The code of a lesson's steps: one tab per framework, the running step lit.
#include <algorithm>
#include <array>
#include <cmath>

#include "compute/core/language.h"
#include "ui/pages/learn/learn_parts.h"
#include "ui/widgets/item.h"
#include "ui/widgets/line_breaks.h"

namespace lab::ui {
namespace {

// Where the names do not fit side by side.
constexpr std::array<const char*, kLessonLanguages.size()> kShortNames = {"PyTorch", "MXNet", "TF",
                                                                          "JAX", "Lab"};

float width_of(const Ui& ui, const std::array<const char*, kLessonLanguages.size()>& names) {
  float width = 0;
  for (const char* name : names) width += text_size(ui.fonts.caption, name).x + ui.px(10);
  return width;
}

bool language_tab(const Panel& p, std::size_t i, const char* shown, ImVec2 min, ImVec2 max,
                  bool chosen) {
  Ui& ui = p.ui;
  const std::string path = std::string("learn/language/") + kLessonLanguages[i];
  const Item item = control_at(path, min, max);
  if (!item.visible) return false;
  ImDrawList* list = ImGui::GetWindowDrawList();
  if (item.hovered && !chosen) {
    list->AddRectFilled(min, max, styled(ui.theme->hover), ui.px(4));
  }
  ImFont* font = ui.fonts.caption;
  const float text = text_size(font, shown).x;
  draw_text(list, font, {(min.x + max.x - text) / 2, (min.y + max.y - font->FontSize) / 2},
            chosen || item.hovered ? ui.theme->text : ui.theme->muted, shown);
  if (chosen) {
    list->AddRectFilled({min.x + ui.px(2), max.y - ui.px(2)}, {max.x - ui.px(2), max.y},
                        styled(ui.theme->accent));
  }
  focus_ring(ui, item, ui.px(4));
  hint(ui, trf("The code of each step in {}", kLessonLanguages[i]));
  record(ui, item, path, "tab", kLessonLanguages[i], chosen ? "chosen" : "");
  return item.pressed;
}

// Tabs as wide as their names; the spare width is divided equally.
void language_tabs(const Panel& p, int& language) {
  Ui& ui = p.ui;
  const float width = ImGui::GetContentRegionAvail().x, height = ui.px(30);
  const ImVec2 min = ImGui::GetCursorScreenPos();
  const auto& names = width_of(ui, kLessonLanguages) <= width ? kLessonLanguages : kShortNames;
  const float spare = std::max(0.0F, width - width_of(ui, names));
  ImGui::Dummy({width, height});
  ImGui::GetWindowDrawList()->AddLine({min.x, min.y + height}, {min.x + width, min.y + height},
                                      styled(ui.theme->border), 1);
  float left = min.x;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const float wide = text_size(ui.fonts.caption, names[i]).x + ui.px(10) +
                       spare / static_cast<float>(names.size());
    const bool chosen = static_cast<std::size_t>(language) == i;
    if (language_tab(p, i, names[i], {std::round(left), min.y},
                     {std::round(left + wide), min.y + height}, chosen)) {
      language = static_cast<int>(i);
    }
    left += wide;
  }
}

void code_line(const Panel& p, const std::string& path, const LessonStep& step,
               std::size_t language, bool lit) {
  const std::string& code = step.code[language];
  Ui& ui = p.ui;
  const float width = ImGui::GetContentRegionAvail().x, pad = ui.px(8);
  const float wrap = width - 2 * pad;
  ImFont* font = ui.fonts.mono;
  const float size = ui.fonts.caption->FontSize;
  const std::string title = break_lines(ui.fonts.caption, tr(step.title), wrap);
  const bool in_none = std::all_of(step.code.begin(), step.code.end(),
                                   [](const std::string& one) { return one.empty(); });
  const std::string shown =
      in_none        ? std::string()  // a conclusion
      : code.empty() ? break_lines(ui.fonts.caption,
                                   trf("Not available in {}", kLessonLanguages[language]), wrap)
                     : code;
  const ImVec2 heading = ui.fonts.caption->CalcTextSizeA(size, FLT_MAX, wrap, title.c_str());
  ImFont* shown_font = code.empty() ? ui.fonts.caption : font;
  const float text_height =
      in_none ? 0 : shown_font->CalcTextSizeA(size, FLT_MAX, wrap, shown.c_str()).y;
  const ImVec2 min = ImGui::GetCursorScreenPos();
  const ImVec2 max(min.x + width, min.y + heading.y + text_height + ui.px(10));
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddRectFilled(
      min, max, styled(lit ? with_alpha(ui.theme->accent, 0.25F) : ui.theme->raised), ui.px(4));
  if (lit) list->AddRectFilled(min, {min.x + ui.px(3), max.y}, styled(ui.theme->accent), ui.px(1));
  list->AddText(ui.fonts.caption, size, {min.x + pad, min.y + ui.px(4)},
                styled(lit ? ui.theme->text : ui.theme->muted), title.c_str(), nullptr, wrap);
  list->AddText(shown_font, size, {min.x + pad, min.y + ui.px(6) + heading.y},
                styled(code.empty() ? ui.theme->muted : ui.theme->text), shown.c_str(), nullptr,
                wrap);
  ImGui::Dummy({width, max.y - min.y});
  record_item(ui, path, "code", code.empty() ? shown : code, lit ? "running" : "");
}

}  // namespace

void draw_lesson_code(const Panel& p, const LessonInfo& lesson) {
  LearnForm& form = p.view.forms.learn;
  language_tabs(p, form.language);
  const LessonRun* run = p.model.lesson_run(lesson.name);
  const bool running = run && is_running(p, *run);
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, p.ui.px(3)});
  for (std::size_t i = 0; i < lesson.steps.size(); ++i) {
    code_line(p, "learn/code/" + std::to_string(i), lesson.steps[i],
              static_cast<std::size_t>(form.language), running && run->step == i);
  }
  ImGui::PopStyleVar();
}

}  // namespace lab::ui
