#include "compute/core/events/transfer_way.h"

namespace lab {

const char* to_string(TransferMover mover) {
  switch (mover) {
    case TransferMover::Threads: return "threads";
    case TransferMover::CopyEngine: return "copy_engine";
    case TransferMover::Kernel: return "kernel";
  }
  return "?";
}

const char* to_string(PeerWay way) {
  switch (way) {
    case PeerWay::None: return "none";
    case PeerWay::Write: return "write";
    case PeerWay::Read: return "read";
    case PeerWay::WriteThroughHost: return "write_through_host";
    case PeerWay::ReadThroughHost: return "read_through_host";
  }
  return "?";
}

std::string moved_by(TransferMover mover, PeerWay way, int threads) {
  if (mover == TransferMover::Threads) {
    return std::to_string(threads) + (threads == 1 ? " thread" : " threads");
  }
  std::string words = mover == TransferMover::Kernel ? "kernel" : "copy engine";
  switch (way) {
    case PeerWay::None: break;
    case PeerWay::Write: words += ", peer write"; break;
    case PeerWay::Read: words += ", peer read"; break;
    case PeerWay::WriteThroughHost: words += ", write without peer access"; break;
    case PeerWay::ReadThroughHost: words += ", read without peer access"; break;
  }
  return words;
}

}  // namespace lab
