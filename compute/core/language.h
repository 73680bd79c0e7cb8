#pragma once
// The language of the texts that a person reads. Texts are written in English at their place in the
// code and marked there; assets/locale holds one catalog per language, keyed by the English text
// (gettext's .po files).
//
//   tr("Run sweep")                          a text that is shown here
//   trf("{} devices", n)                     a text with values
//   .label = LAB_TEXT("Batch")               a text that is shown elsewhere, by tr(field.label)
//
// Not translated: names of the command line and of JSON (keys, options, enum names, kernels), code,
// units, and texts of tests.
#include <fmt/format.h>

#include <string>
#include <string_view>

#include "compute/core/fields/enum_names.h"

namespace lab {

enum class Language { English, Chinese, Japanese, Vietnamese };
template <>
struct EnumNames<Language> {
  static constexpr ValueName kAll[] = {
      {"en", "English"}, {"zh", "中文"}, {"ja", "日本語"}, {"vi", "Tiếng Việt"}};
};

// Sets the language of all following texts, for all threads. Texts that exist already, such as
// results, keep theirs.
void set_language(Language language);
Language language();

// The language of the user's locale, which is the first of LC_ALL, LC_MESSAGES and LANG that is
// set: English if it is "C" or "POSIX", else the first known one of LANGUAGE (a list) and the
// locale; English if there is none.
Language locale_language();

// Returns the text in the current language, or the text itself if the catalog lacks it. Results of
// the first form stay valid for ever.
const char* tr(const char* text);
std::string tr(const std::string& text);

namespace detail {
// Formats the translation, or the English text if the translation's placeholders do not fit.
std::string format_translated(fmt::string_view text, fmt::format_args args);
}  // namespace detail

// Formats the text in the current language. The English text is checked at compile time, those of
// the catalogs by a test. A translation may number its placeholders to change their order.
template <typename... Args>
std::string trf(fmt::format_string<Args...> text, Args&&... args) {
  return detail::format_translated(text, fmt::make_format_args(args...));
}

}  // namespace lab
