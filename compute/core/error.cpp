#include "compute/core/error.h"

namespace lab {

const char* to_string(Errc code) {
  switch (code) {
    case Errc::InvalidArgument: return "invalid argument";
    case Errc::Usage: return "usage";
    case Errc::DeviceMismatch: return "device mismatch";
    case Errc::OutOfMemory: return "out of memory";
    case Errc::NotFound: return "not found";
    case Errc::Unsupported: return "unsupported";
    case Errc::Io: return "input/output";
    case Errc::Corrupt: return "corrupt";
    case Errc::Network: return "network";
    case Errc::Cuda: return "cuda";
    case Errc::DeviceLost: return "device lost";
    case Errc::Cancelled: return "cancelled";
    case Errc::Internal: return "internal";
  }
  return "unknown";
}

}  // namespace lab
