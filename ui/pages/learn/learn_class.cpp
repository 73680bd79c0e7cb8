// A lesson's guesses and results of several people, as one histogram.
#include <fmt/format.h>

#include <algorithm>

#include "compute/core/language.h"
#include "ui/pages/learn/learn_parts.h"
#include "ui/widgets/item.h"

namespace lab::ui {
namespace {

// The bin of the user's own guess; empty without one or where it is outside.
std::optional<std::size_t> own_bin(const LessonInfo& lesson, const LessonRun& run) {
  if (!run.guess || !run.others) return {};
  const auto& bins = run.others->bins;
  double value = run.guess->answer.values.front();
  if (!lesson.question.choices.empty()) return static_cast<std::size_t>(value);
  if (!lesson.question.at.empty()) {
    if (!run.done || !run.done->judges() || run.done->answer->values.front() <= 0) return {};
    value /= run.done->answer->values.front();
  }
  for (std::size_t i = 0; i < bins.size(); ++i) {
    if (value >= bins[i].low && value < bins[i].high) return i;
  }
  return {};
}

void bin_row(const Panel& p, std::size_t i, const ClassBin& bin, float label, int most, bool own) {
  Ui& ui = p.ui;
  const std::string path = fmt::format("learn/class_bin/{}", i);
  const Item item = control(path, {ImGui::GetContentRegionAvail().x, ui.px(24)});
  record(ui, item, path, "bar", bin.label, fmt::format("{} {}", bin.guesses, bin.answers));
  if (!item.visible) return;
  ImDrawList* list = ImGui::GetWindowDrawList();
  ImFont* font = ui.fonts.caption;
  const float y = (item.min.y + item.max.y - font->FontSize) / 2;
  draw_text_fitted(list, font, {item.min.x, y}, label - ui.px(8),
                   own ? ui.theme->text : ui.theme->muted, tr(bin.label));
  const float left = item.min.x + label, room = std::max(ui.px(20), item.max.x - left - ui.px(150));
  const float length = room * static_cast<float>(bin.guesses) / static_cast<float>(most);
  const ImU32 color = own ? ui.theme->accent : series_color(*ui.theme, 0);
  list->AddRectFilled({left, item.min.y + ui.px(3)},
                      {left + std::max(length, ui.px(1)), item.max.y - ui.px(3)}, styled(color),
                      ui.px(2));
  std::string text = bin.guesses > 0 ? std::to_string(bin.guesses) : "";
  if (own) text += (text.empty() ? "" : ", ") + std::string(tr("with yours"));
  const float wide = draw_text(list, font, {left + length + ui.px(6), y}, ui.theme->muted, text);
  if (bin.answers == 0) return;
  const float x = left + length + wide + ui.px(text.empty() ? 10 : 16);
  const float middle = (item.min.y + item.max.y) / 2, r = ui.px(4);
  list->AddQuadFilled({x, middle - r}, {x + r, middle}, {x, middle + r}, {x - r, middle},
                      styled(ui.theme->text));
  draw_text(list, font, {x + ui.px(8), y}, ui.theme->text, trf("measured: {}", bin.answers));
}

void histogram(const Panel& p, const LessonInfo& lesson, const LessonRun& run) {
  const LessonClass& all = *run.others;
  int most = 1;
  float label = 0;
  for (const ClassBin& bin : all.bins) {
    most = std::max(most, bin.guesses);
    label = std::max(label, text_size(p.ui.fonts.caption, tr(bin.label)).x + p.ui.px(16));
  }
  label = std::min(label, 0.45F * ImGui::GetContentRegionAvail().x);
  const std::optional<std::size_t> own = own_bin(lesson, run);
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, p.ui.px(1)});
  for (std::size_t i = 0; i < all.bins.size(); ++i) {
    bin_row(p, i, all.bins[i], label, most, own == i);
  }
  ImGui::PopStyleVar();
  caption(p.ui, lesson.question.at.empty()
                    ? trf("Guesses and measured answers; files: {}", all.people.size())
                    : trf("Guessed over measured at every position; files: {}", all.people.size()));
}

}  // namespace

void draw_class(const Panel& p, const LessonInfo& lesson, const LessonRun& run) {
  const Card card(p, "learn/class", tr("The class"),
                  {.hint = tr("Guesses and results of several people as one histogram")});
  if (card) histogram(p, lesson, run);
}

void draw_class_form(const Panel& p, const LessonInfo& lesson) {
  LearnForm& form = p.view.forms.learn;
  foldout(p.ui, "learn/class_fold", tr("Compare with the results of others"), form.class_open);
  if (!form.class_open) return;
  input_text(p.ui, "learn/class_folder", tr("File or folder"), form.class_folder,
             trf("Each person saves a file with 'device-lab lesson {} --guess X --json > "
                 "NAME.json'; a folder is read whole",
                 lesson.name),
             tr("folder with .json files"));
  const std::string busy = busy_reason(p);
  const std::string why = form.class_folder.empty() ? tr("Type a file or a folder first") : busy;
  if (button(p.ui, "learn/class_read", tr("Compare"), {.enabled = why.empty(), .hint = why})) {
    send(p, CompareClass{lesson.name, {form.class_folder}});
  }
}

}  // namespace lab::ui
