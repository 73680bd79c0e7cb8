#pragma once
// A shared library loaded at run time, so that the program starts without it and only the features
// that need it are unavailable.
#include <memory>
#include <string>
#include <vector>

#include "compute/core/maybe.h"

namespace lab {

class DynamicLibrary {
 public:
  // Opens the first of `names` that loads. A name with a slash is a path; any other name is
  // searched for as the system does (LD_LIBRARY_PATH, the linker's cache). If none loads, the
  // result is missing with the loader's reason for each name: "libx.so.2 (cannot open shared object
  // file: No such file or directory), libx.so (...)". An opened library is never unloaded, because
  // drivers run threads of their own in it.
  static Maybe<DynamicLibrary> open(const std::vector<std::string>& names);

  // The entry of `names` that loaded.
  const std::string& name() const { return name_; }

  // Returns null if the library has no such function. F is a pointer-to-function type.
  template <typename F>
  F function(const char* symbol) const {
    return reinterpret_cast<F>(find(symbol));
  }

 private:
  DynamicLibrary(std::shared_ptr<void> handle, std::string name);
  void* find(const char* symbol) const;

  std::shared_ptr<void> handle_;
  std::string name_;
};

}  // namespace lab
