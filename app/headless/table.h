#pragma once
// A table whose rows can be printed as they come: the widths are chosen beforehand.
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compute/core/maybe.h"

namespace lab::app {

struct TableColumn {
  std::string title;
  int width = 0;       // the title's width at least
  bool right = false;  // numbers
};

class TableLayout {
 public:
  explicit TableLayout(std::vector<TableColumn> columns);
  std::string header() const;
  // Fewer cells than columns leave the rest empty; a cell that is too long pushes the rest.
  std::string row(std::span<const std::string> cells) const;
  std::string row(std::initializer_list<std::string> cells) const {
    return row(std::span(cells.begin(), cells.size()));
  }

 private:
  std::vector<TableColumn> columns_;
};

// Columns that UTF-8 text takes in a terminal, wide scripts aside.
int display_width(std::string_view text);

// "42.0 %", or "N/A".
std::string percent(double share);
std::string percent(const Maybe<double>& share);

}  // namespace lab::app
