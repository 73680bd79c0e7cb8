#include "compute/machine/system_files.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "compute/core/printable.h"

namespace lab {
namespace {

constexpr std::string_view kBlank = " \t\r\n";

}  // namespace

std::optional<std::string> read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (file.bad()) return std::nullopt;
  text.erase(text.find_last_not_of(kBlank) + 1);
  return text;
}

std::optional<std::int64_t> read_number(const std::string& path) {
  const auto text = read_text(path);
  if (!text) return std::nullopt;
  std::int64_t value = 0;
  const auto parsed = std::from_chars(text->data(), text->data() + text->size(), value);
  if (parsed.ec != std::errc()) return std::nullopt;
  return value;
}

std::vector<std::string> find_fields(std::string_view text, std::string_view key) {
  std::vector<std::string> values;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const auto colon = line.find(':');
    if (colon == std::string_view::npos || trimmed(line.substr(0, colon)) != key) continue;
    values.emplace_back(trimmed(line.substr(colon + 1)));
  }
  return values;
}

std::optional<std::string> find_field(std::string_view text, std::string_view key) {
  const auto values = find_fields(text, key);
  if (values.empty()) return std::nullopt;
  return values.front();
}

std::vector<std::string> list_directory(const std::string& path) {
  std::vector<std::string> names;
  std::error_code failed;
  for (std::filesystem::directory_iterator it(path, failed), end; !failed && it != end;
       it.increment(failed)) {
    names.push_back(it->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace lab
