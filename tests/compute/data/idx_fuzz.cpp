// libFuzzer entry point. Any input either decodes or throws Error(Errc::Corrupt), and memory use
// stays proportional to the size of the input.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "compute/core/error.h"
#include "compute/data/idx.h"

namespace {

template <typename Decode>
void expect_value_or_corrupt(Decode decode) {
  try {
    decode();
  } catch (const lab::Error& error) {
    if (error.code() != lab::Errc::Corrupt) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::uint8_t> bytes(data, size);
  expect_value_or_corrupt([bytes] {
    const lab::IdxImages images = lab::decode_idx_images(bytes, "fuzz");
    const auto want = images.count * images.height * images.width;
    if (static_cast<std::int64_t>(images.pixels.size()) != want) std::abort();
  });
  expect_value_or_corrupt([bytes] {
    for (const std::uint8_t label : lab::decode_idx_labels(bytes, "fuzz")) {
      if (label > 9) std::abort();
    }
  });
  return 0;
}
