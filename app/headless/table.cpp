#include "app/headless/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lab::app {

int display_width(std::string_view text) {
  return static_cast<int>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;  // not a continuation byte
  }));
}

std::string percent(double share) {
  return std::isfinite(share) ? fmt::format("{:.1f} %", share * 100) : "N/A";
}

std::string percent(const Maybe<double>& share) {
  return share ? percent(*share) : "N/A";
}

TableLayout::TableLayout(std::vector<TableColumn> columns) : columns_(std::move(columns)) {
  for (TableColumn& c : columns_) c.width = std::max(c.width, display_width(c.title));
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
