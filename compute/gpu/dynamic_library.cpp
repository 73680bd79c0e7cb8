#include "compute/gpu/dynamic_library.h"

#include <dlfcn.h>

#include <utility>

#include "compute/core/language.h"

namespace lab {
namespace {

// dlerror() without the file name at its start, which the caller prints itself.
std::string last_reason(const std::string& name) {
  const char* text = dlerror();  // NOLINT(concurrency-mt-unsafe)
  if (text == nullptr) return tr("no reason given");
  const std::string reason = text;
  return reason.rfind(name + ": ", 0) == 0 ? reason.substr(name.size() + 2) : reason;
}

}  // namespace

Maybe<DynamicLibrary> DynamicLibrary::open(const std::vector<std::string>& names) {
  std::string tried;
  for (const std::string& name : names) {
    void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (handle != nullptr) {
      return DynamicLibrary(std::shared_ptr<void>(handle, [](void* h) { dlclose(h); }), name);
    }
    tried += (tried.empty() ? "" : ", ") + name + " (" + last_reason(name) + ")";
  }
  return Maybe<DynamicLibrary>::missing(tried.empty() ? tr("no name was given") : tried);
}

DynamicLibrary::DynamicLibrary(std::shared_ptr<void> handle, std::string name)
    : handle_(std::move(handle)), name_(std::move(name)) {}

void* DynamicLibrary::find(const char* symbol) const {
  return dlsym(handle_.get(), symbol);
}

}  // namespace lab
