#include "compute/core/events/event.h"

#include <fmt/format.h>

#include <algorithm>

#include "compute/core/units.h"

namespace lab {

bool takes(const RungInfo& rung, Precision precision) {
  return rung.takes.empty() ||
         std::find(rung.takes.begin(), rung.takes.end(), precision) != rung.takes.end();
}

const char* to_string(TransferMover mover) {
  switch (mover) {
    case TransferMover::Threads: return "threads";
    case TransferMover::CopyEngine: return "copy_engine";
    case TransferMover::Kernel: return "kernel";
  }
  return "?";
}

const char* to_string(PeerMode way) {
  switch (way) {
    case PeerMode::None: return "none";
    case PeerMode::Write: return "write";
    case PeerMode::Read: return "read";
    case PeerMode::WriteThroughHost: return "write_through_host";
    case PeerMode::ReadThroughHost: return "read_through_host";
  }
  return "?";
}

std::string moved_by(TransferMover mover, PeerMode way, int threads) {
  if (mover == TransferMover::Threads) {
    return std::to_string(threads) + (threads == 1 ? " thread" : " threads");
  }
  std::string words = mover == TransferMover::Kernel ? "kernel" : "copy engine";
  switch (way) {
    case PeerMode::None: break;
    case PeerMode::Write: words += ", peer write"; break;
    case PeerMode::Read: words += ", peer read"; break;
    case PeerMode::WriteThroughHost: words += ", write without peer access"; break;
    case PeerMode::ReadThroughHost: words += ", read without peer access"; break;
  }
  return words;
}

std::string describe(const TransferPayoff& payoff) {
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
