// The rail, title bar and status bar.
#include "ui/pages/frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <vector>

#include "compute/core/language.h"
#include "compute/core/units.h"
#include "ui/fonts.h"
#include "ui/pages/devices/devices_parts.h"
#include "ui/pages/training/training_parts.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/item.h"

namespace lab::ui {
// --- rail -----------------------------------------------------------------------------------

namespace {

#define LAB_PAGE_ICON(name, key, title, icon, timed) icon,
constexpr std::array kPageIcons = {LAB_PAGES(LAB_PAGE_ICON)};
#undef LAB_PAGE_ICON

void draw_entry(const Panel& p, const Item& item, Page page, bool selected, bool active) {
  const Ui& ui = p.ui;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImU32 fill = selected ? with_alpha(ui.theme->accent, 0.16F) : ui.theme->hover;
  if (selected || item.hovered) list->AddRectFilled(item.min, item.max, styled(fill), ui.px(6));
  focus_ring(ui, item, ui.px(6));
  const ImU32 ink = selected ? ui.theme->accent : item.hovered ? ui.theme->text : ui.theme->muted;
  const float side = ui.px(20);
  const float middle = (item.min.y + item.max.y) / 2;
  draw_icon(list, kPageIcons[static_cast<std::size_t>(page)],
            {item.min.x + ui.px(10), middle - side / 2}, side, styled(ink));
  if (!p.narrow()) {
    ImFont* font = ui.fonts.body;
    draw_text(list, font, {item.min.x + ui.px(40), middle - font->FontSize / 2},
              selected ? ui.theme->text : ink, tr(name_of(page)));
  }
  if (active) {
    const ImVec2 dot = p.narrow() ? ImVec2(item.max.x - ui.px(6), item.min.y + ui.px(6))
                                  : ImVec2(item.max.x - ui.px(12), middle);
    list->AddCircleFilled(dot, ui.px(3.5F), styled(ui.theme->good));
  }
}

void rail_entry(const Panel& p, Page page, float height) {
  const std::string path = fmt::format("rail/{}", key_of(page));
  const Item item = control(path, {ImGui::GetWindowSize().x - p.ui.px(12), height});
  const bool selected = p.view.page == page;
  const bool active = p.model.job() && p.model.job()->page == page;
  if (item.visible) {
    draw_entry(p, item, page, selected, active);
    const std::string job = active ? p.model.job()->title : "";
    // Where the name is visible, the tooltip shows only a running job.
    hint(p.ui, p.narrow() ? fmt::format("{}, Ctrl+{}{}{}", tr(name_of(page)),
                                        static_cast<int>(page) + 1, active ? ": " : "", job)
                          : job);
  }
  record(p.ui, item, path, "tab", tr(name_of(page)), selected ? "selected" : "");
  if (item.pressed) p.view.page = page;
}

// The languages by their own names; by English ones where no font shows these.
std::vector<ValueName> language_names() {
  std::vector<ValueName> names(enum_names<Language>().begin(), enum_names<Language>().end());
  const FontSet* fonts = font_set();
  if (fonts != nullptr && !fonts->shows(Language::Chinese)) names[1].label = "Chinese";
  if (fonts != nullptr && !fonts->shows(Language::Japanese)) names[2].label = "Japanese";
  return names;
}

std::string language_hint(const Panel& p) {
  const FontSet* fonts = font_set();
  std::string missing = fonts == nullptr ? "" : fonts->why_not_shown(p.view.wanted_language());
  if (!missing.empty()) return missing;
  return p.model.job() ? tr("Language; takes effect when the job ends") : tr("Language");
}

void rail_foot(const Panel& p) {
  const bool dark = p.view.mode == ThemeMode::Dark;
  if (icon_button(p.ui, "rail/theme", dark ? kIconSun : kIconMoon,
                  dark ? tr("Light theme, Ctrl+T") : tr("Dark theme, Ctrl+T"), HintSide::Above)) {
    p.view.mode = dark ? ThemeMode::Light : ThemeMode::Dark;
  }
  if (!p.narrow()) ImGui::SameLine(0, p.ui.px(8));
  int chosen = static_cast<int>(p.view.wanted_language());
  if (icon_menu(p.ui, "rail/language", kIconLanguage, language_hint(p), language_names(), chosen)) {
    p.view.language = static_cast<Language>(chosen);
  }
  if (!p.narrow()) ImGui::SameLine(0, p.ui.px(8));
  if (icon_button(p.ui, "rail/help", kIconHelp, tr("Keyboard shortcuts, F1"), HintSide::Above)) {
    p.view.help_open = !p.view.help_open;
  }
}

}  // namespace

void draw_rail(const Panel& p) {
  Ui& ui = p.ui;
  const float pad = ui.px(6);
  const float gap = ui.px(2);
  const float foot = ui.px(p.narrow() ? 104 : 36);
  const ImVec2 corner = ImGui::GetWindowPos();
  const ImVec2 size = ImGui::GetWindowSize();
  ImGui::GetWindowDrawList()->AddLine({corner.x + size.x - 1, corner.y},
                                      {corner.x + size.x - 1, corner.y + size.y},
                                      styled(ui.theme->border));
  const float room = size.y - foot - 2 * pad;
  const float height = std::clamp(room / kPages - gap, ui.px(20), ui.px(36));
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {ui.px(2), gap});
  ImGui::SetCursorPos({pad, pad});
  ImGui::BeginGroup();
  for (int page = 0; page < kPages; ++page) rail_entry(p, static_cast<Page>(page), height);
  ImGui::EndGroup();
  ImGui::SetCursorPos({p.narrow() ? (size.x - ui.px(32)) / 2 : ui.px(10), size.y - foot});
  ImGui::BeginGroup();
  rail_foot(p);
  ImGui::EndGroup();
  ImGui::PopStyleVar();
}

// --- title bar ------------------------------------------------------------------------------

namespace {

struct Chip {
  Device device;
  std::string path, name, busy, memory, text;
  ImU32 color = 0;
};

Chip device_chip(const Panel& p, Device device) {
  const DeviceTelemetry& last = p.model.history(device).last;
  Chip chip;
  chip.device = device;
  chip.name = lab::to_string(device);
  chip.path = "title/" + chip.name;
  chip.color = device_color(*p.ui.theme, device);
  const std::int64_t used = p.model.memory(device).used;
  if (is_timed(device)) {
    chip.busy = last.utilisation ? fmt::format("{:.0f} %", 100 * *last.utilisation) : "N/A";
  }
  // That of a CPU device is in the tooltip, so that no chip moves when a job takes some.
  if (device.kind != DeviceKind::Cpu) chip.memory = format_bytes(used);
  chip.text = chip.name;
  if (last.utilisation) {
    chip.text += std::string("\n") +
                 tr("Busy: share of the time since the previous reading in which any program used "
                    "its cores.");
  }
  add_row(chip.text, tr("busy"),
          last.utilisation ? percent(*last.utilisation)
                           : fmt::format("N/A, {}", tr(last.utilisation.reason())));
  const std::string cores = device.kind == DeviceKind::Cpu ? core_use_text(p.model) : "";
  if (!cores.empty()) add_row(chip.text, tr("all cores"), cores);
  add_row(chip.text, tr("the lab's tensors"), format_bytes(used));
  return chip;
}

// The widths are those of the widest texts, so that no chip moves with each reading.
float busy_width(const Ui& ui, const Chip& chip) {
  if (chip.busy.empty()) return 0;
  ImFont* font = ui.fonts.caption;
  return ui.px(8) + std::max(text_size(font, "100 %").x, text_size(font, chip.busy).x);
}

float memory_width(const Ui& ui, const Chip& chip) {
  if (chip.memory.empty()) return 0;
  ImFont* font = ui.fonts.caption;
  return ui.px(8) + std::max(text_size(font, "8888 MiB").x, text_size(font, chip.memory).x);
}

float chip_width(const Ui& ui, const Chip& chip) {
  return text_size(ui.fonts.caption, chip.name).x + busy_width(ui, chip) + memory_width(ui, chip) +
         ui.px(8 + kDeviceDot + 10);
}

// Opens the Devices page with the device's entry.
void show_device(const Panel& p, Device device) {
  p.view.page = Page::Devices;
  for (const DeviceEntry& entry : device_entries(p)) {
    if (entry.info != nullptr && entry.info->device == device) {
      p.view.forms.devices.selected = entry.key;
    }
  }
}

void draw_chip(const Panel& p, const Chip& chip, float left, float middle, float width) {
  Ui& ui = p.ui;
  ImDrawList* list = ImGui::GetWindowDrawList();
  ImFont* font = ui.fonts.caption;
  const ImVec2 min(left, middle - ui.px(13));
  const ImVec2 max(left + width, middle + ui.px(13));
  const Item item = control_at(chip.path, min, max);
  list->AddRectFilled(min, max, styled(item.hovered ? ui.theme->hover : ui.theme->raised),
                      ui.px(6));
  draw_device_label(ui, {chip.color, font, ui.theme->muted, chip.name}, {left + ui.px(8), middle},
                    width);
  const float name = ui.px(8 + kDeviceDot) + text_size(font, chip.name).x;
  // Aligned to the right, each in its column.
  float right = left + name + busy_width(ui, chip);
  const float y = middle - font->FontSize / 2;
  draw_text(list, font, {right - text_size(font, chip.busy).x, y}, ui.theme->text, chip.busy);
  right += memory_width(ui, chip);
  draw_text(list, font, {right - text_size(font, chip.memory).x, y}, ui.theme->text, chip.memory);
  const bool both = !chip.busy.empty() && !chip.memory.empty();
  focus_ring(ui, item, ui.px(6));
  hint(ui, chip.text);
  record(ui, item, chip.path, "chip", chip.name, chip.busy + (both ? "  " : "") + chip.memory);
  if (item.pressed) show_device(p, chip.device);
}

bool shows_synthetic(const Panel& p) {
  if (p.view.page != Page::Training) return false;
  const TrainingRun* run = newest_run(p);
  return run != nullptr && run->synthetic();
}

// Draws chips for as many devices as fit, from the right edge; returns their left end.
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
    draw_chip(p, chip, x, middle, width);
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
  title(ui, tr(name_of(p.view.page)));
  record_item(ui, "title/page", "text", tr(name_of(p.view.page)));
  float end = ImGui::GetItemRectMax().x;
  if (p.view.page == Page::Learn) p.view.forms.learn.back.clear();
  if (!p.view.forms.learn.back.empty()) {
    ImGui::SetCursorScreenPos({end + ui.px(16), middle - ui.px(16)});
    if (button(ui, "title/back", tr("Back to the lesson"),
               {.hint = tr("The lesson from which this page was opened")})) {
      p.view.forms.learn.lesson = p.view.forms.learn.back;
      p.view.page = Page::Learn;
    }
    end = ImGui::GetItemRectMax().x;
  }
  if (shows_synthetic(p)) {
    ImGui::SetCursorScreenPos({end + ui.px(12), middle - ui.px(10)});
    badge(ui, tr("synthetic"), Tone::Warning);
    record_item(ui, "title/synthetic", "badge", "synthetic");
    hint(ui, tr("The training on this page uses synthetic images, not a real data set."));
    end = ImGui::GetItemRectMax().x;
  }
  draw_chips(p, end, corner.x + size.x - ui.px(8), middle);
}

// --- status bar -----------------------------------------------------------------------------

namespace {

// Places items from the right edge inwards.
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
  const double cores = at.p.model.lab_cpu();
  const CoreUse& use = at.p.model.core_use();
  const std::string all = core_use_text(at.p.model);
  const std::string text = all.empty() ? trf("lab uses {:.1f} cores", cores) : all;
  const double most = use.threads;
  ImFont* font = ui.fonts.caption;
  // While a job runs, no text may be so wide that the buttons beside it move.
  const OtherLoad widest{.programs = most, .host = at.p.model.job() ? most : 0};
  const float usual = text_size(font, core_use_text(at.p.model, most, widest)).x;
  const float width = std::max(text_size(font, text).x, usual);
  at.x -= width + ui.px(12);
  const float right = at.x + width;
  const ImVec2 pos(right - text_size(font, text).x, at.middle - font->FontSize / 2);
  draw_text(ImGui::GetWindowDrawList(), font, pos, ui.theme->muted, text);
  const ImVec2 max(right, pos.y + font->FontSize);
  record_rect(ui, "status/lab_cpu", "text", text, {}, true, pos, max);
  hint_at(ui, pos, max, core_use_hint(at.p.model));
}

void job_buttons(RightToLeft& at) {
  const Panel& p = at.p;
  at.take(68);
  ImGui::SetCursorScreenPos({at.x, at.middle - p.ui.px(16)});
  if (button(p.ui, "status/cancel", tr("Stop"),
             {.kind = ButtonKind::Danger,
              .enabled = true,
              .hint = tr("Stops the running job; results are kept. Esc asks before it stops."),
              .width = 60})) {
    cancel(p);
  }
  if (!p.model.job()->can_pause) return;
  at.take(40);
  ImGui::SetCursorScreenPos({at.x, at.middle - p.ui.px(16)});
  const bool held = paused(p);
  if (icon_button(p.ui, "status/pause", held ? kIconPlay : kIconPause,
                  held ? tr("Resumes the training, Space") : tr("Pauses the training, Space"))) {
    toggle_pause(p);
  }
}

void job_progress(RightToLeft& at, const RunningJob& job) {
  Ui& ui = at.p.ui;
  const std::string left = progress_text(at.p);
  ImFont* font = ui.fonts.caption;
  at.x -= std::max(text_size(font, left).x, ui.px(110)) + ui.px(12);
  const float y = at.middle - font->FontSize / 2;
  draw_text(ImGui::GetWindowDrawList(), font, {at.x, y}, ui.theme->muted, left);
  record_rect(ui, "status/left", "text", left, {}, true, {at.x, y},
              {at.x + text_size(font, left).x, y + font->FontSize});
  if (at.p.width < 760 || !has_progress(at.p)) return;
  const float width = at.p.width < 1000 ? 120 : 200;
  at.take(width + 12);
  ImGui::SetCursorScreenPos({at.x, at.middle - ui.px(4)});
  progress_bar(ui, "status/progress", job.done, width, 8);
}

struct Face {
  Icon icon;
  ImU32 color;
};

// The newest line of the log is shown until it is closed or another page is opened.
void follow_log(const Panel& p) {
  ViewState& view = p.view;
  if (view.status_line != p.model.logged()) {
    view.status_line = p.model.logged();
    view.status_page = view.page;
    view.status_dismissed = false;
  }
  if (view.page != view.status_page) view.status_dismissed = true;
}

bool shows_newest_line(const Panel& p) {
  const auto& log = p.model.log();
  return !p.model.job() && !p.view.status_dismissed && !log.empty() && !log.back().earlier;
}

Face face_of(const Panel& p) {
  const Theme& theme = *p.ui.theme;
  if (p.model.job()) return {paused(p) ? kIconPause : kIconPlay, theme.accent};
  if (!shows_newest_line(p)) return {kIconCheck, theme.muted};
  const LogEntry& last = p.model.log().back();
  switch (last.severity) {
    case Severity::Error: return {kIconError, theme.bad};
    case Severity::Warning: return {kIconWarning, theme.warning};
    case Severity::Info: break;
  }
  return {last.stopped ? kIconStop : kIconCheck, theme.muted};
}

std::string text_of(const Panel& p) {
  if (const auto& job = p.model.job()) {
    return job->what.empty() ? job->title : job->title + "   " + job->what;
  }
  if (!shows_newest_line(p)) return tr("Ready");
  const LogEntry& last = p.model.log().back();
  return last.brief.empty() ? last.text : last.brief;
}

void dismiss_button(RightToLeft& at) {
  if (!shows_newest_line(at.p)) return;
  at.take(40);
  ImGui::SetCursorScreenPos({at.x, at.middle - at.p.ui.px(16)});
  if (icon_button(at.p.ui, "status/dismiss", kIconClose, tr("Close; the log keeps this line"))) {
    at.p.view.status_dismissed = true;
  }
}

void job_text(const RightToLeft& at, float left) {
  const Panel& p = at.p;
  Ui& ui = p.ui;
  const float side = ui.px(18);
  const Face face = face_of(p);
  draw_icon(ImGui::GetWindowDrawList(), face.icon, {left, at.middle - side / 2}, side,
            styled(face.color));
  const std::string text = text_of(p);
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
  follow_log(p);
  dismiss_button(at);
  job_text(at, corner.x + ui.px(14));
}

// --- saved files ----------------------------------------------------------------------------

namespace {

constexpr double kSavedSeconds = 8;

std::string saved_text(const Panel& p) {
  return trf("Saved {}", std::filesystem::path(p.model.saved().path).filename().string());
}

}  // namespace

std::optional<ImVec2> saved_size(const Panel& p) {
  ViewState& view = p.view;
  const Ui& ui = p.ui;
  if (view.shown_save != p.model.saved().number) {
    view.shown_save = p.model.saved().number;
    view.saved_until_s = ui.time_s + kSavedSeconds;
  }
  if (ui.time_s >= view.saved_until_s) return std::nullopt;
  const float text = text_size(ui.fonts.body, saved_text(p)).x;
  const float buttons = text_size(ui.fonts.body, tr("Open folder")).x + ui.px(28 + 32);
  return ImVec2(std::min(std::ceil(text + buttons + ui.px(18 + 56)), ui.px(p.width - 32)),
                ui.px(48));
}

void draw_saved(const Panel& p) {
  Ui& ui = p.ui;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImVec2 min = ImGui::GetWindowPos(), size = ImGui::GetWindowSize();
  const ImVec2 max(min.x + size.x, min.y + size.y);
  const float middle = min.y + size.y / 2;
  // ImGui draws the background of a child window below the other children.
  list->AddRectFilled(min, max, styled(ui.theme->raised), ui.px(6));
  list->AddRect(min, max, styled(ui.theme->border), ui.px(6));
  if (ImGui::IsWindowHovered()) {
    p.view.saved_until_s = std::max(p.view.saved_until_s, ui.time_s + kSavedSeconds / 2);
  }
  const float side = ui.px(18);
  draw_icon(list, kIconCheck, {min.x + ui.px(12), middle - side / 2}, side, styled(ui.theme->good));
  const float open = text_size(ui.fonts.body, tr("Open folder")).x + ui.px(28);
  const float buttons = max.x - ui.px(8 + 32 + 4) - open;
  const ImVec2 text(min.x + ui.px(38), middle - ui.fonts.body->FontSize / 2);
  draw_text_fitted(list, ui.fonts.body, text, buttons - text.x - ui.px(8), ui.theme->text,
                   saved_text(p));
  record_rect(ui, "saved/text", "text", saved_text(p), p.model.saved().path, true, text,
              {buttons, text.y + ui.fonts.body->FontSize});
  hint_at(ui, text, {buttons, text.y + ui.fonts.body->FontSize}, p.model.saved().path);
  ImGui::SetCursorScreenPos({buttons, middle - ui.px(16)});
  if (button(ui, "saved/open", tr("Open folder"), {.width = open / ui.scale})) {
    p.out.push_back(OpenFolderOf{p.model.saved().path});
  }
  ImGui::SetCursorScreenPos({max.x - ui.px(8 + 32), middle - ui.px(16)});
  if (icon_button(ui, "saved/close", kIconClose, tr("Close"))) p.view.saved_until_s = 0;
}

}  // namespace lab::ui
