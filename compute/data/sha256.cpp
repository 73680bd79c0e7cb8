#include "compute/data/sha256.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>

#include "compute/core/error.h"
#include "compute/core/language.h"

namespace lab {

std::string sha256_hex(std::span<const std::uint8_t> bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr) != 1) {
    throw Error(Errc::Internal, tr("sha256: OpenSSL could not compute the digest"));
  }
  std::string hex;
  for (unsigned i = 0; i < size; ++i) hex += fmt::format("{:02x}", digest[i]);
  return hex;
}

}  // namespace lab
