#include "compute/core/events/event.h"

#include <algorithm>

namespace lab {

bool takes(const RungInfo& rung, Precision precision) {
  return rung.takes.empty() ||
         std::find(rung.takes.begin(), rung.takes.end(), precision) != rung.takes.end();
}

}  // namespace lab
