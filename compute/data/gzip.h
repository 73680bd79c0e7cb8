#pragma once
// Decompresses gzip data in memory, up to a given size.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace lab {

// Returns whether `bytes` begins with the gzip magic number.
bool is_gzip(std::span<const std::uint8_t> bytes);

// Returns the first `max_bytes` of the content, or all of it if it is shorter. The checksum is
// verified only if the content ends within `max_bytes`. Throws Error(Corrupt) naming `name` if the
// data is damaged, ends early, or is followed by anything other than gzip data. Memory grows with
// the decompressed content, never with a size claimed by a header.
std::vector<std::uint8_t> gunzip(std::span<const std::uint8_t> bytes, std::int64_t max_bytes,
                                 const std::string& name);

}  // namespace lab
