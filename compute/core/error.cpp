#include "compute/core/error.h"

#include <new>
#include <system_error>
#include <typeinfo>

#include "compute/core/language.h"

namespace lab {
namespace {

// Whether std::thread could not start a thread. A file's error is a subclass of system_error.
bool is_thread_refused(const std::exception& e) {
  return typeid(e) == typeid(std::system_error) &&
         static_cast<const std::system_error&>(e).code() ==
             std::errc::resource_unavailable_try_again;
}

}  // namespace

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

Error current_error() {
  try {
    throw;
  } catch (const Error& e) {
    return e;
  } catch (const std::bad_alloc&) {
    return {Errc::OutOfMemory, tr("out of memory: host allocation failed")};
  } catch (const std::exception& e) {
    if (is_thread_refused(e)) {
      return {
          Errc::OutOfMemory,
          tr("out of memory: a thread could not be started; raise the limits on the address space "
             "(ulimit -v), on processes (ulimit -u) and on a container's processes (pids)")};
    }
    return {Errc::Internal, trf("internal error: {}", e.what())};
  } catch (...) {
    return {Errc::Internal, tr("internal error: unknown exception")};
  }
}

void throw_if_cancelled(const std::stop_token& stop) {
  if (stop.stop_requested()) throw Error(Errc::Cancelled, tr("cancelled"));
}

}  // namespace lab
