#pragma once
// A table with fixed column widths, so that rows can be printed as they arrive.
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compute/core/maybe.h"

namespace lab::app {

struct TableColumn {
  std::string title;   // LAB_TEXT; the header shows its translation
  int width = 0;       // at least the title's width
  bool right = false;  // numbers
};

class TableLayout {
 public:
  explicit TableLayout(std::vector<TableColumn> columns);
  std::string header() const;
  // Missing cells are empty; a cell that is too long shifts the following ones.
  std::string row(std::span<const std::string> cells) const;
  std::string row(std::initializer_list<std::string> cells) const {
    return row(std::span(cells.begin(), cells.size()));
  }

 private:
  std::vector<TableColumn> columns_;
};

// Returns the terminal columns taken by UTF-8 text; East Asian wide characters take two.
int display_width(std::string_view text);
// The beginning of a text in whole characters, at most `columns` wide.
std::string cut_off(std::string text, int columns);
// Appends spaces up to a width of `columns`; at least one follows the text.
std::string padded(std::string text, int columns);

// "42.0 %", or "N/A".
std::string percent(double share);
std::string percent(const Maybe<double>& share);

}  // namespace lab::app
