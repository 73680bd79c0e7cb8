// Passes arbitrary bytes to the safetensors reader, which must return or throw Error(Corrupt).
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "compute/core/error.h"
#include "compute/nn/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::byte> file(reinterpret_cast<const std::byte*>(data), size);
  try {
    std::size_t bytes = 0;
    for (const lab::nn::TensorView& tensor : lab::nn::parse_safetensors(file)) {
      bytes += tensor.data.size();
    }
    if (bytes > size) std::abort();
  } catch (const lab::Error& error) {
    if (error.code() != lab::Errc::Corrupt) std::abort();
  }
  return 0;
}
