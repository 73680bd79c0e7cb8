#pragma once
// Reads catalogs in the binary format of gettext's msgfmt (.mo). libintl is not used because it
// only translates for locales that are generated on the user's machine, takes the language from
// environment variables, and reads installed files; the lab embeds its catalogs and changes the
// language while it runs.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace lab {

// A view of the bytes of a .mo file, which must outlive it. Bytes that are not a valid catalog give
// an empty one. Const members may be called by several threads and never allocate.
class MoCatalog {
 public:
  MoCatalog() = default;
  explicit MoCatalog(std::string_view bytes);

  // Returns the translation, terminated by NUL, or nullptr if the catalog has none.
  const char* find(std::string_view text) const;

  std::size_t size() const { return count_; }
  // i < size(), in the order of text(i).
  std::string_view text(std::size_t i) const { return entry(texts_, i); }
  std::string_view translation(std::size_t i) const { return entry(translations_, i); }

 private:
  std::uint32_t word(std::size_t at) const;
  std::string_view entry(std::size_t table, std::size_t i) const;
  bool valid() const;

  std::string_view bytes_;
  std::size_t count_ = 0, texts_ = 0, translations_ = 0;  // tables of lengths and offsets
};

// Holds the catalog in use, or nullptr.
using CatalogSlot = std::atomic<const MoCatalog*>;

}  // namespace lab
