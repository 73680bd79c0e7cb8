#include "compute/gpu/library/layer_libraries.h"

#include <fmt/format.h>

#include "compute/core/error.h"
#include "compute/core/language.h"
#include "compute/gpu/dynamic_library.h"

namespace lab::library {
namespace {

// Supported major versions. cuDNN 8 encodes its version differently.
constexpr int kCudnn = 9;
constexpr int kOldestCublas = 12, kNewestCublas = 13;

Maybe<DynamicLibrary> open_library(const char* title, const std::vector<std::string>& files) {
  Maybe<DynamicLibrary> library = DynamicLibrary::open(files);
  if (library) return library;
  throw Error(
      Errc::Unsupported,
      trf("{} cannot be opened: {}; install it, add its folder to LD_LIBRARY_PATH, or choose "
          "--kernels lab",
          title, library.reason()));
}

template <typename F>
void find_function(const DynamicLibrary& library, const char* title, const char* symbol,
                   F& function) {
  function = library.function<F>(symbol);
  if (function != nullptr) return;
  throw Error(Errc::Unsupported, trf("{} has no function {}; install another version of {}, or "
                                     "choose --kernels lab",
                                     library.name(), symbol, title));
}

Error wrong_version(const DynamicLibrary& library, const std::string& version, const char* title,
                    const std::string& supported) {
  return {Errc::Unsupported,
          trf("{} is {} {}; the lab works with {}: install it, or choose --kernels lab",
              library.name(), title, version, supported)};
}

std::string open_cudnn(const std::vector<std::string>& files, CudnnFunctions& functions) {
  const Maybe<DynamicLibrary> library = open_library("cuDNN", files);
  find_function(*library, "cuDNN", "cudnnGetVersion", functions.get_version);
  const auto number = static_cast<int>(functions.get_version());
  const int major = number >= 10000 ? number / 10000 : number / 1000;
  if (major != kCudnn) {
    throw wrong_version(*library, std::to_string(major), "cuDNN", std::to_string(kCudnn));
  }
  for_each_cudnn_function([&](const char* symbol, auto member) {
    find_function(*library, "cuDNN", symbol, functions.*member);
  });
  return fmt::format("cuDNN {}.{}.{}", major, number / 100 % 100, number % 100);
}

std::string open_cublas(const std::vector<std::string>& files, CublasFunctions& functions) {
  const Maybe<DynamicLibrary> library = open_library("cuBLAS", files);
  find_function(*library, "cuBLAS", "cublasGetProperty", functions.get_property);
  int major = 0, minor = 0;
  functions.get_property(CublasProperty::Major, &major);
  functions.get_property(CublasProperty::Minor, &minor);
  if (major < kOldestCublas || major > kNewestCublas) {
    throw wrong_version(*library, std::to_string(major), "cuBLAS",
                        fmt::format("{}, {}", kOldestCublas, kNewestCublas));
  }
  for_each_cublas_function([&](const char* symbol, auto member) {
    find_function(*library, "cuBLAS", symbol, functions.*member);
  });
  return fmt::format("cuBLAS {}.{}", major, minor);
}

}  // namespace

LayerLibraries open_layer_libraries(const LibraryFiles& files) {
  LayerLibraries libraries;
  libraries.versions = open_cudnn(files.cudnn, libraries.cudnn);
  libraries.versions += ", " + open_cublas(files.cublas, libraries.cublas);
  return libraries;
}

}  // namespace lab::library
