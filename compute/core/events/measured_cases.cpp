#include "compute/core/events/measured_cases.h"

namespace lab {

bool is_measured_between(TransferOp op, Device from, Device to) {
  if (!is_timed(from) || !is_timed(to)) return false;
  switch (op) {
    case TransferOp::Copy: return true;
    case TransferOp::Read:
    case TransferOp::Write:
    case TransferOp::Triad: return from == to && !is_gpu(from);
    case TransferOp::Pieces: return is_gpu(from) || is_gpu(to);
    case TransferOp::Both: return from != to && is_gpu(to);
    case TransferOp::Chase: return is_gpu(to);
    case TransferOp::Overlap: return !is_gpu(from) && is_gpu(to);
  }
  return false;
}

}  // namespace lab
