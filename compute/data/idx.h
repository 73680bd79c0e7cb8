#pragma once
// The IDX format of the MNIST family: big-endian magic 00 00 <type> <rank>, one 32-bit size per
// dimension, then the values. Supports unsigned bytes of rank 3 (images) and 1 (labels).
// Source  http://yann.lecun.com/exdb/mnist/
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace lab {

// Far above the size of any such data set; a file that claims more is rejected.
inline constexpr std::int64_t kMaxIdxBytes = std::int64_t{1} << 30;

struct IdxImages {
  std::int64_t count = 0;
  int height = 0, width = 0;
  std::vector<std::uint8_t> pixels;  // count * height * width, row-major
};

// Both take the bytes of a whole file, gzip or plain, and throw Error(Corrupt) with one sentence
// that starts with `name`. They allocate no more than the bytes can hold.
IdxImages decode_idx_images(std::span<const std::uint8_t> file, const std::string& name);
// Also throws if a label is not below `classes`.
std::vector<std::uint8_t> decode_idx_labels(std::span<const std::uint8_t> file,
                                            const std::string& name, int classes = 10);

// Returns a file's bytes. Throws Error(NotFound) or Error(Io) naming the file, and Error(Corrupt)
// if it is larger than kMaxIdxBytes.
std::vector<std::uint8_t> read_idx_bytes(const std::filesystem::path& path);

}  // namespace lab
