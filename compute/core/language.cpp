#include "compute/core/language.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <optional>

#include "compute/core/language_catalogs.h"

namespace lab {
namespace {

std::atomic<Language> current_language{Language::English};
CatalogSlot own_slot{nullptr};
std::atomic<CatalogSlot*> current_slot{&own_slot};

// Returns the translation, or nullptr if there is none. The empty text is the key of a catalog's
// header.
const char* translation_of(std::string_view text) {
  const MoCatalog* catalog = catalog_slot();
  return catalog == nullptr || text.empty() ? nullptr : catalog->find(text);
}

// Reads "zh_CN.UTF-8", or a list of such names, as in LANGUAGE.
std::optional<Language> first_known(std::string_view names) {
  while (!names.empty()) {
    const std::string_view name = names.substr(0, names.find(':'));
    names.remove_prefix(std::min(names.size(), name.size() + 1));
    const auto i = position_of(enum_names<Language>(), name.substr(0, name.find_first_of("_.@-")));
    if (i < enum_names<Language>().size()) return static_cast<Language>(i);
  }
  return std::nullopt;
}

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): never set here
  return value == nullptr ? "" : value;
}

}  // namespace

const MoCatalog& catalog_of(Language language) {
  static const std::array<MoCatalog, enum_names<Language>().size()> kCatalogs = {
      MoCatalog(), MoCatalog(kChineseCatalog), MoCatalog(kJapaneseCatalog),
      MoCatalog(kVietnameseCatalog)};
  return kCatalogs[static_cast<std::size_t>(language)];
}

void use_catalog(const MoCatalog& catalog) {
  catalog_slot() = &catalog;
}

CatalogSlot& catalog_slot() {
  return *current_slot;
}

void share_catalog_slot(CatalogSlot& slot) {
  current_slot = &slot;
}

const MoCatalog& active_catalog() {
  const MoCatalog* catalog = catalog_slot();
  return catalog == nullptr ? catalog_of(Language::English) : *catalog;
}

void set_language(Language language) {
  use_catalog(catalog_of(language));
  current_language = language;
}

Language language() {
  return current_language;
}

Language locale_language() {
  std::string_view locale;
  for (const char* name : {"LC_ALL", "LC_MESSAGES", "LANG"}) {
    if (locale.empty()) locale = variable(name);
  }
  if (locale == "C" || locale == "POSIX") return Language::English;
  const auto listed = first_known(variable("LANGUAGE"));
  return listed ? *listed : first_known(locale).value_or(Language::English);
}

const char* tr(const char* text) {
  const char* found = translation_of(text);
  return found == nullptr ? text : found;
}

std::string tr(const std::string& text) {
  const char* found = translation_of(text);
  return found == nullptr ? text : found;
}

namespace detail {

std::string format_translated(fmt::string_view text, fmt::format_args args) {
  const char* found = translation_of({text.data(), text.size()});
  if (found == nullptr) return fmt::vformat(text, args);
  try {
    return fmt::vformat(found, args);
  } catch (const fmt::format_error&) {
    return fmt::vformat(text, args);
  }
}

}  // namespace detail
}  // namespace lab
