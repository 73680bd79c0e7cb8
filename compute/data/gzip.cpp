#include "compute/data/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <limits>

#include "compute/core/error.h"
#include "compute/core/language.h"

namespace lab {
namespace {

constexpr std::int64_t kFirstChunk = 64 * 1024;

class Inflater {
 public:
  Inflater(std::span<const std::uint8_t> input, const std::string& name)
      : input_(input), name_(name) {
    // Adding 16 to the window size selects the gzip wrapper.
    if (inflateInit2(&stream_, 16 + MAX_WBITS) != Z_OK) {
      throw Error(Errc::Internal, trf("{}: zlib initialization failed", name));
    }
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  // Fills `output`. Returns fewer bytes than requested only at the end of the data.
  std::size_t read(std::span<std::uint8_t> output) {
    std::size_t written = 0;
    while (!done_) {
      feed();
      const std::size_t room =
          std::min<std::size_t>(output.size() - written, std::numeric_limits<uInt>::max());
      stream_.next_out = output.data() + written;
      stream_.avail_out = static_cast<uInt>(room);
      const int status = inflate(&stream_, Z_NO_FLUSH);
      written += room - stream_.avail_out;
      if (status == Z_STREAM_END) {
        next_member();
      } else if (status == Z_BUF_ERROR || (status == Z_OK && room == 0)) {
        if (written == output.size()) return written;
        if (unread() == 0) fail(tr("ends in the middle of its gzip data; fetch it again"));
      } else if (status != Z_OK) {
        fail(trf("holds damaged gzip data ({}); fetch it again",
                 stream_.msg != nullptr ? stream_.msg : tr("unknown reason")));
      }
    }
    return written;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(Errc::Corrupt, name_ + " " + what);
  }
  std::size_t unread() const { return stream_.avail_in + (input_.size() - given_); }

  void feed() {
    if (stream_.avail_in != 0) return;
    const std::size_t piece =
        std::min<std::size_t>(input_.size() - given_, std::numeric_limits<uInt>::max());
    // zlib's interface lacks the const; zlib does not write to its input.
    stream_.next_in = const_cast<Bytef*>(input_.data() + given_);
    stream_.avail_in = static_cast<uInt>(piece);
    given_ += piece;
  }

  // A gzip file may consist of several members; any other data after the first is an error.
  void next_member() {
    const std::size_t rest = unread();
    if (rest == 0) {
      done_ = true;
      return;
    }
    if (!is_gzip(input_.subspan(input_.size() - rest))) {
      fail(tr("has data after the end of its gzip stream; fetch it again"));
    }
    inflateReset(&stream_);
  }

  const std::span<const std::uint8_t> input_;
  const std::string& name_;
  z_stream stream_{};
  std::size_t given_ = 0;  // input bytes passed to zlib so far
  bool done_ = false;
};

}  // namespace

bool is_gzip(std::span<const std::uint8_t> bytes) {
  return bytes.size() >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b;
}

std::vector<std::uint8_t> gunzip(std::span<const std::uint8_t> bytes, std::int64_t max_bytes,
                                 const std::string& name) {
  Inflater inflater(bytes, name);
  std::vector<std::uint8_t> content;
  std::size_t filled = 0;
  const auto limit = static_cast<std::size_t>(max_bytes);
  while (filled < limit) {
    content.resize(std::min(limit, std::max<std::size_t>(kFirstChunk, content.size() * 2)));
    const std::size_t asked = content.size() - filled;
    const std::size_t got = inflater.read(std::span(content).subspan(filled));
    filled += got;
    if (got < asked) break;
  }
  content.resize(filled);
  return content;
}

}  // namespace lab
