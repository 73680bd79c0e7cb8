// Runs the fuzz target on mutated copies of valid files, without libFuzzer.
#include <gtest/gtest.h>

#include <random>

#include "tests/compute/data/idx_bytes.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace lab {
namespace {

using test::Bytes;

Bytes mutate(Bytes bytes, std::mt19937& random) {
  const auto below = [&](std::size_t n) { return n == 0 ? 0 : random() % n; };
  const int edits = 1 + static_cast<int>(below(4));
  for (int i = 0; i < edits; ++i) {
    // Half of the edits hit the header, where they have the most effect.
    const std::size_t reach =
        below(2) == 0 ? std::min<std::size_t>(bytes.size(), 24) : bytes.size();
    const std::size_t at = below(reach);
    switch (below(5)) {
      case 0: bytes.resize(at); break;
      case 1: bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at), 3, 0xff); break;
      case 2:
        if (at < bytes.size()) bytes[at] = static_cast<std::uint8_t>(random());
        break;
      case 3:
        if (at < bytes.size()) bytes[at] = static_cast<std::uint8_t>(bytes[at] ^ (1U << below(8)));
        break;
      default:
        if (at < bytes.size()) bytes.erase(bytes.begin() + static_cast<std::ptrdiff_t>(at));
        break;
    }
  }
  return bytes;
}

TEST(IdxMutations, OnlyThrowCorrupt) {
  const Bytes seeds[] = {test::idx_images(3, 5),
                         test::idx_labels(40),
                         test::gzip(test::idx_images(4, 28)),
                         test::gzip(test::idx_labels(300)),
                         test::gzip(test::idx_header({0xffffffff, 0xffffffff, 0xffffffff})),
                         test::idx_header({0x10000, 0x10000, 0x10000})};
  std::mt19937 random(11);
  for (const Bytes& seed : seeds) {
    LLVMFuzzerTestOneInput(seed.data(), seed.size());
    for (int i = 0; i < 1500; ++i) {
      const Bytes bytes = mutate(seed, random);
      LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
    }
  }
}

}  // namespace
}  // namespace lab
