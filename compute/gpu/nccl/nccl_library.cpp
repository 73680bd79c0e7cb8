#include "compute/gpu/nccl/nccl_library.h"

#include <fmt/format.h>

#include "compute/core/language.h"
#include "compute/gpu/dynamic_library.h"

namespace lab::nccl {
namespace {

constexpr int kMajor = 2;

// "2.28.9" for 22809. Versions before 2.9 had one digit less: 2804.
std::string version_text(int version) {
  const int major_unit = version < 10'000 ? 1000 : 10'000;
  return fmt::format("{}.{}.{}", version / major_unit, version % major_unit / 100, version % 100);
}

}  // namespace

Maybe<Library> open_library(const std::string& name) {
  const Maybe<DynamicLibrary> opened = DynamicLibrary::open({name});
  if (!opened) {
    return Maybe<Library>::missing(
        trf("NCCL cannot be loaded: {}; install libnccl2", opened.reason()));
  }
  Library library;
  const char* lacks = nullptr;
  const auto find = [&]<typename F>(const char* symbol, F*& function) {
    function = opened->function<F*>(symbol);
    if (function == nullptr) lacks = symbol;
  };
  int (*get_version)(int*) = nullptr;
  find("ncclGetVersion", get_version);
  find("ncclCommInitAll", library.comm_init_all);
  find("ncclCommDestroy", library.comm_destroy);
  find("ncclCommAbort", library.comm_abort);
  find("ncclCommGetAsyncError", library.comm_get_async_error);
  find("ncclAllReduce", library.all_reduce);
  find("ncclGroupStart", library.group_start);
  find("ncclGroupEnd", library.group_end);
  find("ncclGetErrorString", library.get_error_string);
  if (lacks != nullptr) {
    return Maybe<Library>::missing(
        trf("{} has no function {}; install NCCL {}", opened->name(), lacks, kMajor));
  }
  int version = 0;
  const int code = get_version(&version);
  library.version = version_text(version);
  if (code != kSuccess || library.version.front() != '0' + kMajor) {
    return Maybe<Library>::missing(
        trf("{} is NCCL {}; the lab needs NCCL {}", opened->name(), library.version, kMajor));
  }
  return library;
}

}  // namespace lab::nccl
