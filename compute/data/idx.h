#pragma once
// The IDX format of the MNIST family: big-endian magic 00 00 <type> <rank>, one 32-bit size for
// each dimension, then the values. Here: unsigned bytes, rank 3 (images) or 1 (labels).
// Source  http://yann.lecun.com/exdb/mnist/
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace lab {

// No data set of this kind comes near; a file that claims more is refused.
inline constexpr std::int64_t kMaxIdxBytes = std::int64_t{1} << 30;

struct IdxImages {
  std::int64_t count = 0;
  int height = 0, width = 0;
  std::vector<std::uint8_t> pixels;  // count * height * width, row-major
};

// Both take a whole file's bytes, gzip or plain, and throw Error(Corrupt) in one sentence that
// starts with `name`. They allocate no more than the bytes can hold.
IdxImages decode_idx_images(std::span<const std::uint8_t> file, const std::string& name);
// Every label is less than `classes`.
std::vector<std::uint8_t> decode_idx_labels(std::span<const std::uint8_t> file,
                                            const std::string& name, int classes = 10);

// A file's bytes; throws Error(NotFound) or Error(Io) naming it, and Error(Corrupt) when it is
// larger than kMaxIdxBytes.
std::vector<std::uint8_t> read_file(const std::filesystem::path& path);

}  // namespace lab
