#pragma once
// Opens cuDNN and cuBLAS by name.
#include <string>
#include <vector>

#include "compute/gpu/library/cublas_api.h"
#include "compute/gpu/library/cudnn_api.h"

namespace lab::library {

// Names or paths; the first that loads is used.
struct LibraryFiles {
  std::vector<std::string> cudnn = {"libcudnn.so.9", "libcudnn.so"};
  std::vector<std::string> cublas;  // see blas_names()
};

struct LayerLibraries {
  CudnnFunctions cudnn;
  CublasFunctions cublas;
  std::string versions;  // "cuDNN 9.19.0, cuBLAS 13.1"
};

// Throws Error(Unsupported) naming the library, the reason and the way out if one of them cannot be
// opened, lacks a function or has an unsupported version. An opened library is never unloaded.
LayerLibraries open_layer_libraries(const LibraryFiles& files);

}  // namespace lab::library
