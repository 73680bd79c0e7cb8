#pragma once
// A shared library opened while the program runs: what needs it is left out where it is missing,
// and nothing else.
#include <memory>
#include <string>
#include <vector>

#include "compute/core/maybe.h"

namespace lab {

class DynamicLibrary {
 public:
  // The first of `names` that loads; a name with a slash is a path, others are searched as the
  // system does (LD_LIBRARY_PATH, the linker's cache). Missing with the loader's reason for each
  // name: "libx.so.2 (cannot open shared object file: No such file or directory), libx.so (...)".
  // A library once opened stays in the process, since drivers keep threads of their own in it.
  static Maybe<DynamicLibrary> open(const std::vector<std::string>& names);

  // The name it was found under.
  const std::string& name() const { return name_; }

  // Null where the library has no such function. F is a pointer to function.
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
