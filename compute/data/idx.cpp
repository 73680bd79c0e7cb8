#include "compute/data/idx.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <system_error>

#include "compute/core/error.h"
#include "compute/core/files/whole_file.h"
#include "compute/core/language.h"
#include "compute/core/units.h"
#include "compute/data/gzip.h"

namespace lab {
namespace {

constexpr int kMaxRank = 3;
constexpr std::size_t kMaxHeader = 4 + 4 * kMaxRank;
constexpr std::uint8_t kUnsignedByte = 0x08;
// Upper limit of Deflate's compression ratio (a match of 258 bytes in two bits, RFC 1951).
constexpr std::int64_t kMaxDeflateRatio = 1032;

struct Header {
  int rank = 0;
  std::array<std::int64_t, kMaxRank> sizes{};
  std::int64_t bytes = 0;  // of the header
  std::int64_t values = 1;
};

[[noreturn]] void corrupt(const std::string& name, const std::string& what) {
  throw Error(Errc::Corrupt, name + " " + what);
}

std::int64_t big_endian(const std::uint8_t* p) {
  return (std::int64_t{p[0]} << 24) | (std::int64_t{p[1]} << 16) | (std::int64_t{p[2]} << 8) | p[3];
}

const char* kind_of(int rank) {
  return rank == 3 ? tr("images") : tr("labels");
}

std::string sizes_text(const Header& header) {
  std::string text;
  for (int i = 0; i < header.rank; ++i) text += (i ? "x" : "") + std::to_string(header.sizes[i]);
  return text;
}

void check_magic(std::span<const std::uint8_t> head, int rank, const std::string& name) {
  if (head.size() < 4) {
    corrupt(name, trf("is not an IDX file: it ends after {} bytes", head.size()));
  }
  if (head[0] != 0 || head[1] != 0) {
    corrupt(name, trf("is not an IDX file: it starts with {:02x} {:02x} {:02x} {:02x}, not 00 00",
                      head[0], head[1], head[2], head[3]));
  }
  if (head[2] != kUnsignedByte) {
    corrupt(name,
            trf("holds values of IDX type 0x{:02x}; only unsigned bytes (0x08) are read", head[2]));
  }
  if (head[3] != rank) {
    const std::string seems =
        head[3] == 1 || head[3] == 3 ? fmt::format(" ({})", kind_of(head[3])) : "";
    corrupt(name, rank == 1 ? trf("is mislabelled: {} have 1 dimension, but it has {}{}",
                                  kind_of(rank), head[3], seems)
                            : trf("is mislabelled: {} have {} dimensions, but it has {}{}",
                                  kind_of(rank), rank, head[3], seems));
  }
}

Header parse_header(std::span<const std::uint8_t> head, int rank, const std::string& name) {
  check_magic(head, rank, name);
  Header header;
  header.rank = rank;
  header.bytes = 4 + 4 * rank;
  if (static_cast<std::int64_t>(head.size()) < header.bytes) {
    corrupt(name, trf("is truncated: its header needs {} bytes, there are {}", header.bytes,
                      head.size()));
  }
  bool oversized = false;
  for (int i = 0; i < rank; ++i) {
    header.sizes[i] = big_endian(head.data() + 4 + 4 * i);
    if (header.sizes[i] == 0) corrupt(name, trf("is empty: dimension {} is 0", i + 1));
    // The size is below 2^32 and the product so far below 2^31, so this cannot overflow.
    if (!oversized) header.values *= header.sizes[i];
    oversized = oversized || header.values > kMaxIdxBytes;
  }
  if (oversized) {
    corrupt(name, trf("is oversized: its header claims {} values, more than {}", sizes_text(header),
                      format_bytes(kMaxIdxBytes)));
  }
  return header;
}

void check_length(const Header& header, std::int64_t have, bool at_least, const std::string& name) {
  const std::int64_t want = header.bytes + header.values;
  if (have < want) {
    corrupt(name, trf("is truncated: {} {} need {} bytes, there are {}", sizes_text(header),
                      kind_of(header.rank), want, have));
  }
  if (have > want) {
    const std::int64_t more = have - want;
    const std::string sizes = sizes_text(header);
    const char* kind = kind_of(header.rank);
    corrupt(name, at_least    ? more == 1
                                    ? trf("has at least 1 byte after its {} {}", sizes, kind)
                                    : trf("has at least {} bytes after its {} {}", more, sizes, kind)
                     : more == 1 ? trf("has 1 byte after its {} {}", sizes, kind)
                              : trf("has {} bytes after its {} {}", more, sizes, kind));
  }
}

struct Decoded {
  Header header;
  std::vector<std::uint8_t> values;
};

Decoded decode_gzip(std::span<const std::uint8_t> file, int rank, const std::string& name) {
  Decoded out;
  out.header = parse_header(gunzip(file, kMaxHeader, name), rank, name);
  const std::int64_t want = out.header.bytes + out.header.values;
  if (out.header.values / kMaxDeflateRatio > static_cast<std::int64_t>(file.size())) {
    corrupt(name, trf("is truncated: {} {} cannot be packed into its {} bytes",
                      sizes_text(out.header), kind_of(rank), file.size()));
  }
  // One extra byte reveals trailing data, however long it is.
  out.values = gunzip(file, want + 1, name);
  check_length(out.header, static_cast<std::int64_t>(out.values.size()), true, name);
  out.values.erase(out.values.begin(), out.values.begin() + out.header.bytes);
  return out;
}

Decoded decode(std::span<const std::uint8_t> file, int rank, const std::string& name) {
  if (is_gzip(file)) return decode_gzip(file, rank, name);
  Decoded out;
  out.header = parse_header(file.first(std::min(kMaxHeader, file.size())), rank, name);
  check_length(out.header, static_cast<std::int64_t>(file.size()), false, name);
  out.values.assign(file.begin() + out.header.bytes, file.end());
  return out;
}

}  // namespace

IdxImages decode_idx_images(std::span<const std::uint8_t> file, const std::string& name) {
  Decoded decoded = decode(file, 3, name);
  const auto& sizes = decoded.header.sizes;
  return {sizes[0], static_cast<int>(sizes[1]), static_cast<int>(sizes[2]),
          std::move(decoded.values)};
}

std::vector<std::uint8_t> decode_idx_labels(std::span<const std::uint8_t> file,
                                            const std::string& name, int classes) {
  Decoded decoded = decode(file, 1, name);
  const auto wrong = std::find_if(decoded.values.begin(), decoded.values.end(),
                                  [classes](std::uint8_t label) { return label >= classes; });
  if (wrong != decoded.values.end()) {
    corrupt(name, trf("is mislabelled: label {} of image {} is past the last class {}", *wrong,
                      wrong - decoded.values.begin(), classes - 1));
  }
  return std::move(decoded.values);
}

std::vector<std::uint8_t> read_idx_bytes(const std::filesystem::path& path) {
  std::error_code none;  // a file without a size is read or rejected below
  const auto size = static_cast<std::int64_t>(std::filesystem::file_size(path, none));
  if (!none && size > kMaxIdxBytes) {
    corrupt(path.string(),
            trf("is oversized: {}, more than {}", format_bytes(size), format_bytes(kMaxIdxBytes)));
  }
  return files::read_file(path);
}

}  // namespace lab
