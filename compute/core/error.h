#pragma once
// The one exception type of the lab. A message names the operation, the values and the way out;
// it is shown to people as it is, in the window and on the command line.
#include <stdexcept>
#include <string>

namespace lab {

enum class Errc {
  InvalidArgument,  // a value is out of range or of the wrong form
  Usage,            // the command line itself is wrong (exit status 2)
  DeviceMismatch,   // operands live on different devices
  OutOfMemory,      // refused before it was tried, or by the device itself
  NotFound,         // file, device, kernel or model of that name
  Unsupported,      // this build or machine cannot do it
  Io,               // reading or writing failed
  Corrupt,          // a file's content is not what it claims
  Network,          // a download failed
  Cuda,             // a call of CUDA failed; the device goes on working
  DeviceLost,       // an error ended the GPU's context; it works again after a restart
  Cancelled,        // stopped on request; not shown as a failure
  Internal,         // a bug of ours
};

const char* to_string(Errc code);

class Error : public std::runtime_error {
 public:
  Error(Errc code, const std::string& message) : std::runtime_error(message), code_(code) {}
  Errc code() const { return code_; }

 private:
  Errc code_;
};

}  // namespace lab
