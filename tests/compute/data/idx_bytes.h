#pragma once
// Creates IDX files in memory and compresses them.
#include <zlib.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <span>
#include <stdexcept>
#include <vector>

namespace lab::test {

using Bytes = std::vector<std::uint8_t>;

inline Bytes idx_header(std::initializer_list<std::uint32_t> sizes) {
  Bytes bytes = {0, 0, 8, static_cast<std::uint8_t>(sizes.size())};
  for (const std::uint32_t size : sizes) {
    for (int shift = 24; shift >= 0; shift -= 8) {
      bytes.push_back(static_cast<std::uint8_t>(size >> shift));
    }
  }
  return bytes;
}

// `count` images of `side` x `side` whose values are derived from their positions.
inline Bytes idx_images(std::uint32_t count, std::uint32_t side = 28) {
  Bytes bytes = idx_header({count, side, side});
  for (std::uint32_t i = 0; i < count * side * side; ++i) {
    bytes.push_back(static_cast<std::uint8_t>(i * 7));
  }
  return bytes;
}

inline Bytes idx_labels(std::uint32_t count) {
  Bytes bytes = idx_header({count});
  for (std::uint32_t i = 0; i < count; ++i) bytes.push_back(static_cast<std::uint8_t>(i % 10));
  return bytes;
}

inline Bytes gzip(std::span<const std::uint8_t> content) {
  z_stream stream{};
  if (deflateInit2(&stream, 9, Z_DEFLATED, 16 + MAX_WBITS, 9, Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::runtime_error("deflateInit2 failed");
  }
  Bytes packed(deflateBound(&stream, content.size()));
  stream.next_in = const_cast<Bytef*>(content.data());
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = packed.data();
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

inline void write_bytes(const std::filesystem::path& path, std::span<const std::uint8_t> bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()),
            static_cast<std::streamsize>(bytes.size()));
  if (!out) throw std::runtime_error("cannot write " + path.string());
}

}  // namespace lab::test
