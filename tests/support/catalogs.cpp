#include "tests/support/catalogs.h"

#include <cstdint>

namespace lab::test {
namespace {

void put_word(std::string& to, std::size_t value) {
  const auto word = static_cast<std::uint32_t>(value);
  to.append(reinterpret_cast<const char*>(&word), sizeof word);
}

}  // namespace

std::string mo_bytes(const std::map<std::string, std::string>& translations) {
  const std::size_t n = translations.size(), texts = 20, tables = texts + 16 * n;
  std::string strings, originals, translated;
  const auto add = [&](std::string& table, const std::string& text) {
    put_word(table, text.size());
    put_word(table, tables + strings.size());
    strings.append(text).push_back('\0');
  };
  for (const auto& [text, translation] : translations) {
    add(originals, text);
    add(translated, translation);
  }
  std::string bytes;
  put_word(bytes, 0x950412de);
  for (const std::size_t value : {std::size_t{0}, n, texts, texts + 8 * n}) put_word(bytes, value);
  return bytes + originals + translated + strings;
}

}  // namespace lab::test
