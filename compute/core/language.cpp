#include "compute/core/language.h"

#include <atomic>
#include <cstdlib>

namespace lab {
namespace {

std::atomic<Language> current_language{Language::English};

}  // namespace

void set_language(Language language) {
  current_language = language;
}

Language language() {
  return current_language;
}

Language locale_language() {
  for (const char* variable : {"LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"}) {
    const char* value = std::getenv(variable);
    if (value == nullptr || *value == '\0') continue;
    const auto i = position_of(enum_names<Language>(), std::string_view(value).substr(0, 2));
    return i < enum_names<Language>().size() ? static_cast<Language>(i) : Language::English;
  }
  return Language::English;
}

const char* tr(const char* text) {
  return text;
}

std::string tr(const std::string& text) {
  return text;
}

namespace detail {

std::string format_translated(fmt::string_view text, fmt::format_args args) {
  return fmt::vformat(text, args);
}

}  // namespace detail
}  // namespace lab
