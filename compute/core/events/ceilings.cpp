#include "compute/core/events/ceilings.h"

namespace lab {

std::string workers_text(int threads) {
  if (threads == 0) return "the whole GPU";
  return std::to_string(threads) + (threads == 1 ? " thread" : " threads");
}

}  // namespace lab
