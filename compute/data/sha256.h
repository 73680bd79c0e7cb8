#pragma once
// SHA-256 of bytes in memory, computed by OpenSSL.
#include <cstdint>
#include <span>
#include <string>

namespace lab {

// Returns 64 lower-case hexadecimal digits.
std::string sha256_hex(std::span<const std::uint8_t> bytes);

}  // namespace lab
