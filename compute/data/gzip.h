#pragma once
// Unpacks gzip data in memory, never past a stated size.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace lab {

// True when `bytes` starts as a gzip file does.
bool is_gzip(std::span<const std::uint8_t> bytes);

// The first `max_bytes` of the content, or all of it when it is shorter. Only content that ends
// within `max_bytes` has its checksum compared. Throws Error(Corrupt) naming `name` when the data
// is damaged, ends early, or is followed by something that is not gzip. Memory follows what was
// unpacked so far, never what a header claims.
std::vector<std::uint8_t> gunzip(std::span<const std::uint8_t> bytes, std::int64_t max_bytes,
                                 const std::string& name);

}  // namespace lab
