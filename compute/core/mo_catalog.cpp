#include "compute/core/mo_catalog.h"

#include <cstring>

namespace lab {
namespace {

// The number at the start of a file in this machine's byte order.
constexpr std::uint32_t kMoMagic = 0x950412de;
// Magic number, revision, number of texts, offsets of both tables.
constexpr std::size_t kMoHeader = 20;
constexpr std::size_t kMoEntry = 8;

}  // namespace

MoCatalog::MoCatalog(std::string_view bytes) : bytes_(bytes) {
  if (bytes_.size() < kMoHeader || word(0) != kMoMagic || word(4) >> 16 != 0) return;
  count_ = word(8);
  texts_ = word(12);
  translations_ = word(16);
  if (!valid()) count_ = 0;
}

std::uint32_t MoCatalog::word(std::size_t at) const {
  std::uint32_t value = 0;
  std::memcpy(&value, bytes_.data() + at, sizeof value);
  return value;
}

std::string_view MoCatalog::entry(std::size_t table, std::size_t i) const {
  const std::size_t at = table + i * kMoEntry;
  return {bytes_.data() + word(at + 4), word(at)};
}

// Whether the tables and all texts are inside the file, each text ends with NUL, and the texts are
// sorted, as find() requires.
bool MoCatalog::valid() const {
  const auto inside = [this](std::size_t table, std::size_t i) {
    const std::size_t at = table + i * kMoEntry;
    const std::size_t end = std::size_t{word(at)} + word(at + 4);
    return end < bytes_.size() && bytes_[end] == '\0';
  };
  for (const std::size_t table : {texts_, translations_}) {
    if (table > bytes_.size() || count_ > (bytes_.size() - table) / kMoEntry) return false;
  }
  for (std::size_t i = 0; i < count_; ++i) {
    if (!inside(texts_, i) || !inside(translations_, i)) return false;
    if (i > 0 && text(i - 1) >= text(i)) return false;
  }
  return true;
}

const char* MoCatalog::find(std::string_view text) const {
  std::size_t first = 0, last = count_;
  while (first < last) {
    const std::size_t middle = first + (last - first) / 2;
    const int order = this->text(middle).compare(text);
    if (order == 0) return translation(middle).data();
    (order < 0 ? first : last) = order < 0 ? middle + 1 : middle;
  }
  return nullptr;
}

}  // namespace lab
