#pragma once
// Loads one of the NVML fakes and exposes its controls to tests.
#include <dlfcn.h>

#include <memory>
#include <string>

#include "tests/support/fake_nvml/fake_nvml.h"

namespace lab::test {

// Kinds are the folders that tests/support/fake_nvml builds: "h200", "pair", "laptop", "old",
// "mismatch". A library stays loaded, so its counters persist across tests.
class FakeNvml {
 public:
  explicit FakeNvml(const std::string& kind);

  const std::string& path() const { return path_; }
  int calls(int gpu = 0) const { return find<decltype(fake_nvml_calls)>("fake_nvml_calls")(gpu); }
  int open() const { return find<decltype(fake_nvml_open)>("fake_nvml_open")(); }
  void set_processes(int count, int growth) const {
    find<decltype(fake_nvml_set_processes)>("fake_nvml_set_processes")(count, growth);
  }
  void divide(bool divided) const {
    find<decltype(fake_nvml_divide)>("fake_nvml_divide")(divided ? 1 : 0);
  }
  void share(bool shared) const {
    find<decltype(fake_nvml_share)>("fake_nvml_share")(shared ? 1 : 0);
  }
  void rest(bool idle) const { find<decltype(fake_nvml_rest)>("fake_nvml_rest")(idle ? 1 : 0); }
  void fail(int gpu, int code) const {
    find<decltype(fake_nvml_fail)>("fake_nvml_fail")(gpu, code);
  }
  void slow(int microseconds, bool busy) const {
    find<decltype(fake_nvml_slow)>("fake_nvml_slow")(microseconds, busy ? 1 : 0);
  }

 private:
  struct Close {
    void operator()(void* library) const { dlclose(library); }
  };
  template <typename F>
  F* find(const char* name) const {
    return reinterpret_cast<F*>(dlsym(library_.get(), name));
  }

  std::string path_;
  std::unique_ptr<void, Close> library_;
};

}  // namespace lab::test
