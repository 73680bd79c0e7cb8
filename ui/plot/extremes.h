#pragma once
// Lowest and highest values of the blocks of a series that only grows: a question about any stretch
// of a million points then reads some dozens. Pure.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace lab::ui::plot {

struct LowHigh {
  std::size_t lowest = 0, highest = 0;  // positions
};

class Extremes {
 public:
  // Takes in what was appended to `y` since the last call; a shorter `y` starts over.
  void follow(std::span<const double> y);

  // Among the finite values of y[from..to) above `floor`; none: there is no such value. `y` is the
  // one followed last.
  std::optional<LowHigh> of(std::span<const double> y, std::size_t from, std::size_t to,
                            double floor) const;

 private:
  std::vector<std::optional<LowHigh>> small_, large_;  // whole blocks, the large of small ones
};

}  // namespace lab::ui::plot
