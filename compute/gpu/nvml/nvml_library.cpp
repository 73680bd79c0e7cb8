#include "compute/gpu/nvml/nvml_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "compute/gpu/nvml/nvml_words.h"

namespace lab::nvml {

void* find_symbol(void* library, const char* name) {
  return dlsym(library, name);
}

std::string reason_for_code(const char* function, int code) {
  return reason_of(function, code);
}

void Session::Close::operator()(void* library) const {
  dlclose(library);
}

Session::Session(const std::string& library)
    // NODELETE: the driver may keep threads of its own, which unloading would pull the rug from.
    : library_(dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE)) {
  if (!library_) {
    const char* why = dlerror();  // NOLINT(concurrency-mt-unsafe)
    failure_ = fmt::format(
        "NVML cannot be loaded ({}); install the driver's management library (libnvidia-ml1), or "
        "give the container the capability 'utility'",
        why != nullptr ? why : library);
    return;
  }
  auto functions = std::make_unique<Functions>(Functions{library_.get()});
  const int code = functions->init();
  if (code != kSuccess) {
    failure_ = "NVML does not start: " + functions->init.reason(code);
    return;
  }
  functions_ = std::move(functions);
}

Session::~Session() {
  if (functions_) functions_->shutdown();
}

}  // namespace lab::nvml
