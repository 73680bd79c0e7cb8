#include <fmt/format.h>

#include "compute/core/events/event.h"
#include "compute/core/units.h"

namespace lab {

std::string in_words(const TransferPayoff& payoff) {
  const std::string work = fmt::format("Work of {} pass{} over {} data: ", payoff.passes,
                                       payoff.passes == 1 ? "" : "es", to_string(payoff.memory));
  const std::string host = to_string(payoff.host), gpu = to_string(payoff.gpu);
  if (!payoff.from_bytes) {
    return work + fmt::format(
                      "it is quicker to stay on {} than to move to {} at every size "
                      "measured.",
                      host, gpu);
  }
  return work + fmt::format("below {} it is quicker to stay on {} than to move to {}.",
                            format_bytes(*payoff.from_bytes), host, gpu);
}

}  // namespace lab
