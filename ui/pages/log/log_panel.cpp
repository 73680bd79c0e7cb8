// The Log page: events, one per line.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "compute/core/language.h"
#include "ui/pages/panel.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/item.h"
#include "ui/widgets/line_breaks.h"

namespace lab::ui {
namespace {

const char* word(Severity severity) {
  switch (severity) {
    case Severity::Info: return tr("info");
    case Severity::Warning: return tr("warning");
    case Severity::Error: return tr("error");
  }
  return "";
}

bool contains_text(std::string_view text, std::string_view part) {
  const auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) ==
           std::tolower(static_cast<unsigned char>(b));
  };
  return std::search(text.begin(), text.end(), part.begin(), part.end(), same) != text.end();
}

bool passes(const LogForm& form, const LogEntry& entry) {
  const std::array<bool, 3> wanted = {form.info, form.warning, form.error};
  return wanted[static_cast<std::size_t>(entry.severity)] && contains_text(entry.text, form.filter);
}

std::string time_of_day_text(double t_s) {
  const auto whole = static_cast<std::int64_t>(t_s);
  const std::int64_t minutes = whole / 60;
  return fmt::format("{:02}:{:02}:{:04.1f}", minutes / 60, minutes % 60,
                     t_s - static_cast<double>(minutes * 60));
}

std::string as_text(const Panel& p) {
  std::string text;
  for (const LogEntry& entry : p.model.log()) {
    if (!passes(p.view.forms.log, entry)) continue;
    text += fmt::format("{}  {:<7}  {}\n", time_of_day_text(entry.t_s), word(entry.severity),
                        entry.text);
  }
  return text;
}

void tools(const Panel& p) {
  LogForm& form = p.view.forms.log;
  Card card(p, "log/tools", "");
  if (!card) return;
  {
    Pair pair(p, 560);
    pair.next();
    input_text(p.ui, "log/filter", tr("Filter"), form.filter,
               tr("Shows lines that contain this text."), tr("any text"));
    pair.next();
    control_label(p.ui, tr("Severity"));
    Row row(p.ui, {1, 1, 1});
    row.next();
    checkbox(p.ui, "log/info", tr("Info"), form.info);
    row.next();
    checkbox(p.ui, "log/warning", tr("Warning"), form.warning);
    row.next();
    checkbox(p.ui, "log/error", tr("Error"), form.error);
  }
  if (button(p.ui, "log/copy", tr("Copy these lines"),
             {.enabled = !p.model.log().empty(), .hint = tr("Copies them to the clipboard.")})) {
    ImGui::SetClipboardText(as_text(p).c_str());
  }
}

void draw_line(const Panel& p, const LogEntry& entry) {
  Ui& ui = p.ui;
  const ImVec2 pos = ImGui::GetCursorScreenPos();
  const float left = ui.px(26 + 104);
  const float width = std::max(ui.px(80), ImGui::GetContentRegionAvail().x - left);
  ImFont* font = ui.fonts.body;
  note_text(font, entry.text);
  const std::string lines = break_lines(font, entry.text, width);
  const ImVec2 size = font->CalcTextSizeA(font->FontSize, FLT_MAX, width, lines.c_str());
  ImGui::Dummy({left + width, std::max(size.y, font->FontSize)});
  if (!ImGui::IsItemVisible()) return;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const Icon icon = entry.severity == Severity::Error     ? kIconError
                    : entry.severity == Severity::Warning ? kIconWarning
                                                          : kIconInfo;
  const ImU32 color = entry.severity == Severity::Error     ? ui.theme->bad
                      : entry.severity == Severity::Warning ? ui.theme->warning
                                                            : ui.theme->muted;
  draw_icon(list, icon, pos, ui.px(16), styled(color));
  ImFont* mono = ui.fonts.mono;
  const float rise = font->Ascent - mono->Ascent;  // aligns both on one baseline
  draw_text(list, mono, {pos.x + ui.px(26), pos.y + rise}, ui.theme->muted,
            time_of_day_text(entry.t_s));
  list->AddText(font, font->FontSize, {pos.x + left, pos.y}, styled(ui.theme->text), lines.c_str(),
                nullptr, width);
}

}  // namespace

void draw_log_page(const Panel& p) {
  const StretchedArea area(p);
  tools(p);
  Card card(p, "log/lines", tr("Newest first"), {.extra = spare_height(p)});
  if (!card) return;
  int shown = 0;
  for (auto entry = p.model.log().rbegin(); entry != p.model.log().rend(); ++entry) {
    if (!passes(p.view.forms.log, *entry)) continue;
    draw_line(p, *entry);
    ++shown;
  }
  if (shown > 0) return;
  muted(p.ui, p.model.log().empty() ? tr("No entries yet. Jobs report their progress here.")
                                    : tr("No line matches the filter."));
}

}  // namespace lab::ui
