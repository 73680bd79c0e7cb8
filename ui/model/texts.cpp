#include "ui/model/texts.h"

#include <fmt/format.h>

namespace lab::ui {

std::string percent(double share) {
  return fmt::format("{:.{}f} %", share * 100, share < 0.0995 ? 1 : 0);
}

std::string percent(const Maybe<double>& share) {
  return share ? percent(*share) : "N/A";
}

}  // namespace lab::ui
