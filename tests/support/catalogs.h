#pragma once
// Catalogs and languages for tests.
#include <map>
#include <string>

#include "compute/core/language_catalogs.h"

namespace lab::test {

// Returns the bytes of a .mo file.
std::string mo_bytes(const std::map<std::string, std::string>& translations);

// Translates with a catalog while it exists, then with none.
class WithCatalog {
 public:
  explicit WithCatalog(const std::map<std::string, std::string>& translations)
      : bytes_(mo_bytes(translations)), catalog_(bytes_) {
    use_catalog(catalog_);
  }
  ~WithCatalog() { set_language(Language::English); }
  WithCatalog(const WithCatalog&) = delete;
  WithCatalog& operator=(const WithCatalog&) = delete;

 private:
  std::string bytes_;
  MoCatalog catalog_;
};

// Sets the language while it exists, then English.
class WithLanguage {
 public:
  explicit WithLanguage(Language language) { set_language(language); }
  ~WithLanguage() { set_language(Language::English); }
  WithLanguage(const WithLanguage&) = delete;
  WithLanguage& operator=(const WithLanguage&) = delete;
};

}  // namespace lab::test
