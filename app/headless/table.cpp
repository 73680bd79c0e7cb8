#include "app/headless/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compute/core/language.h"

namespace lab::app {

namespace {

// Whether a byte of UTF-8 belongs to the character before it.
bool continues(unsigned char byte) {
  return (byte & 0xC0U) == 0x80U;
}

}  // namespace

int display_width(std::string_view text) {
  // The lead bytes of U+0300 to U+036F (0xCC, 0xCD: combining marks, nearly) take no column, those
  // from U+3000 on (0xE3 to 0xED, 0xF0) and U+FF00 on (0xEF) two, continuation bytes none.
  int width = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (continues(byte) || byte == 0xCC) continue;
    width += byte >= 0xE3 && byte != 0xEE ? 2 : 1;
  }
  return width;
}

std::string cut_off(std::string text, int columns) {
  while (display_width(text) > std::max(0, columns)) {
    while (continues(static_cast<unsigned char>(text.back()))) text.pop_back();
    text.pop_back();
  }
  return text;
}

std::string padded(std::string text, int columns) {
  text.append(static_cast<std::size_t>(std::max(1, columns - display_width(text))), ' ');
  return text;
}

std::string percent(double share) {
  return std::isfinite(share) ? fmt::format("{:.1f} %", share * 100) : "N/A";
}

std::string percent(const Maybe<double>& share) {
  return share ? percent(*share) : "N/A";
}

TableLayout::TableLayout(std::vector<TableColumn> columns) : columns_(std::move(columns)) {
  for (TableColumn& c : columns_) {
    c.title = tr(c.title);
    c.width = std::max(c.width, display_width(c.title));
  }
}

std::string TableLayout::header() const {
  std::vector<std::string> titles;
  for (const TableColumn& c : columns_) titles.push_back(c.title);
  return row(titles);
}

std::string TableLayout::row(std::span<const std::string> cells) const {
  std::string line;
  for (std::size_t i = 0; i < std::min(cells.size(), columns_.size()); ++i) {
    const int missing = std::max(0, columns_[i].width - display_width(cells[i]));
    const std::string padding(static_cast<std::size_t>(missing), ' ');
    if (i > 0) line += "  ";
    line += columns_[i].right ? padding + cells[i] : cells[i] + padding;
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace lab::app
