// What is remembered between starts.
#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "ui/pages/panel.h"
#include "ui/pages/shortcuts.h"

namespace lab::ui {

std::map<std::string, std::string> save_view(const ViewState& view) {
  std::map<std::string, std::string> out;
  out["page"] = key_of(view.page);
  out["theme"] = view.mode == ThemeMode::Dark ? "dark" : "light";
  out["scale"] = fmt::format("{}", view.scale);
  save_forms(view.forms, out);
  return out;
}

void load_view(ViewState& view, const std::map<std::string, std::string>& saved) {
  if (const auto page = saved.find("page"); page != saved.end()) {
    view.page = page_named(page->second).value_or(view.page);
  }
  if (const auto theme = saved.find("theme"); theme != saved.end()) {
    if (theme->second == "dark") view.mode = ThemeMode::Dark;
    if (theme->second == "light") view.mode = ThemeMode::Light;
  }
  if (const auto scale = saved.find("scale"); scale != saved.end()) {
    const char* end = scale->second.data() + scale->second.size();
    float read = 0;
    const auto parsed = std::from_chars(scale->second.data(), end, read);
    const bool fits = parsed.ec == std::errc() && parsed.ptr == end && std::isfinite(read) &&
                      read >= kScaleMin && read <= kScaleMax;
    if (fits) view.scale = read;
  }
  load_forms(view.forms, saved);
}

}  // namespace lab::ui
