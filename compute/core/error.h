#pragma once
// The lab's only exception type. A message names the operation, the offending values and the fix;
// the window and the command line display it verbatim.
#include <stdexcept>
#include <stop_token>
#include <string>

namespace lab {

enum class Errc {
  InvalidArgument,  // a value is out of range or malformed
  Usage,            // the command line itself is wrong (exit status 2)
  DeviceMismatch,   // operands are on different devices
  OutOfMemory,      // refused before allocation, or reported by the device
  NotFound,         // no file, device, kernel or model has that name
  Unsupported,      // not supported by this build or machine
  Io,               // reading or writing failed
  Corrupt,          // a file's content is invalid
  Network,          // a download failed
  Cuda,             // a CUDA call failed; the device remains usable
  DeviceLost,       // an error destroyed the GPU's context; a restart recovers it
  Cancelled,        // cancelled on request; not shown as a failure
  Internal,         // a bug in the lab
};

const char* to_string(Errc code);

class Error : public std::runtime_error {
 public:
  Error(Errc code, const std::string& message) : std::runtime_error(message), code_(code) {}
  Errc code() const { return code_; }

 private:
  Errc code_;
};

// The exception being handled, as an Error that can be shown. To be called in a catch block.
Error current_error();

// Throws Error(Errc::Cancelled) once a stop is requested.
void throw_if_cancelled(const std::stop_token& stop);

}  // namespace lab
