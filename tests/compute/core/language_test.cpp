#include "compute/core/language.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <optional>
#include <string>

#include "tests/support/catalogs.h"

namespace lab::test {
namespace {

// Sets or unsets variables of the environment while it exists.
class Environment {
 public:
  explicit Environment(const std::map<std::string, const char*>& values) {
    for (const char* name : {"LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"}) {
      const char* before = std::getenv(name);
      before_[name] = before == nullptr ? std::nullopt : std::optional<std::string>(before);
      const auto wanted = values.find(name);
      wanted == values.end() ? ::unsetenv(name) : ::setenv(name, wanted->second, 1);
    }
  }
  ~Environment() {
    for (const auto& [name, value] : before_) {
      value ? ::setenv(name.c_str(), value->c_str(), 1) : ::unsetenv(name.c_str());
    }
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  std::map<std::string, std::optional<std::string>> before_;
};

Language with(const std::map<std::string, const char*>& values) {
  const Environment environment(values);
  return locale_language();
}

TEST(Language, FollowsTheLocale) {
  EXPECT_EQ(with({}), Language::English);
  EXPECT_EQ(with({{"LANG", "ja_JP.UTF-8"}}), Language::Japanese);
  EXPECT_EQ(with({{"LANG", "vi_VN"}, {"LC_ALL", "C"}}), Language::English);
  EXPECT_EQ(with({{"LANG", "vi_VN"}, {"LC_ALL", ""}}), Language::Vietnamese);
  EXPECT_EQ(with({{"LANG", "vi"}, {"LC_MESSAGES", "zh_CN@x"}}), Language::Chinese);
  EXPECT_EQ(with({{"LANGUAGE", "de:zh_CN:en"}, {"LANG", "vi"}}), Language::Chinese);
  EXPECT_EQ(with({{"LANGUAGE", "en"}, {"LANG", "vi"}}), Language::English);
  EXPECT_EQ(with({{"LANG", "vie"}}), Language::English);
  EXPECT_EQ(with({{"LANGUAGE", "::"}}), Language::English);
  EXPECT_EQ(with({{"LANGUAGE", "ja"}}), Language::Japanese);
  EXPECT_EQ(with({{"LANGUAGE", "ja"}, {"LC_ALL", "C"}, {"LANG", "vi_VN"}}), Language::English);
  EXPECT_EQ(with({{"LANGUAGE", "ja"}, {"LANG", "POSIX"}}), Language::English);
  EXPECT_EQ(with({{"LANGUAGE", "ja"}, {"LANG", "C.UTF-8"}}), Language::Japanese);
  EXPECT_EQ(with({{"LANGUAGE", "de"}, {"LANG", "vi_VN"}}), Language::Vietnamese);
}

TEST(Language, TranslatesWhatTheCatalogHas) {
  EXPECT_STREQ(tr("Stop"), "Stop");
  const WithCatalog catalog({{"", "the header"}, {"Stop", "Dừng"}, {"Run", ""}});
  EXPECT_STREQ(tr("Stop"), "Dừng");
  EXPECT_EQ(tr(std::string("Stop")), "Dừng");
  EXPECT_STREQ(tr("Sto"), "Sto");
  EXPECT_STREQ(tr(""), "");
}

TEST(Language, FormatsTranslations) {
  const WithCatalog catalog({{"{} of {}", "{1}/{0}"},
                             {"{} devices", "thiết bị: {}"},
                             {"{} cores", "{} {}"},
                             {"{} bytes", "{:q}"},
                             {"{} GPUs", "{"}});
  EXPECT_EQ(trf("{} of {}", 1, "x"), "x/1");
  EXPECT_EQ(trf("{} devices", 2), "thiết bị: 2");
  EXPECT_EQ(trf("{} threads", 2), "2 threads");
  EXPECT_EQ(trf("{} cores", 2), "2 cores");
  EXPECT_EQ(trf("{} bytes", 2), "2 bytes");
  EXPECT_EQ(trf("{} GPUs", 2), "2 GPUs");
}

TEST(Language, IsEnglishByDefaultAndCanBeSet) {
  EXPECT_EQ(language(), Language::English);
  EXPECT_EQ(active_catalog().size(), 0U);
  {
    const WithLanguage japanese(Language::Japanese);
    EXPECT_EQ(language(), Language::Japanese);
    EXPECT_GE(active_catalog().size(), 1U) << "the embedded catalog has at least its header";
  }
  EXPECT_EQ(language(), Language::English);
}

TEST(Language, CopiesOfTheModuleShareACatalog) {
  CatalogSlot& own = catalog_slot();
  const std::string bytes = mo_bytes({{"Stop", "Dừng"}});
  const MoCatalog catalog(bytes);
  CatalogSlot program{nullptr};
  share_catalog_slot(program);
  EXPECT_STREQ(tr("Stop"), "Stop");
  program = &catalog;
  EXPECT_STREQ(tr("Stop"), "Dừng");
  share_catalog_slot(own);
  EXPECT_STREQ(tr("Stop"), "Stop");
}

// --- the reader ------------------------------------------------------------------------------

const std::map<std::string, std::string> kTexts = {
    {"", "Content-Type: text/plain; charset=UTF-8\n"}, {"a", "á"}, {"ab", "b"}, {"b", "c"}};

// Reads everything that the catalog offers.
std::size_t read_all(const MoCatalog& catalog) {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < catalog.size(); ++i) {
    bytes += catalog.text(i).size() + catalog.translation(i).size();
    EXPECT_EQ(catalog.find(catalog.text(i)), catalog.translation(i).data());
  }
  for (const char* text : {"", "a", "ab", "abc", "b", "c"}) {
    if (const char* found = catalog.find(text)) bytes += std::string(found).size();
  }
  return bytes;
}

TEST(MoCatalog, FindsEachText) {
  const std::string bytes = mo_bytes(kTexts);
  const MoCatalog catalog(bytes);
  ASSERT_EQ(catalog.size(), kTexts.size());
  for (const auto& [text, translation] : kTexts) EXPECT_EQ(catalog.find(text), translation);
  EXPECT_EQ(catalog.find("aa"), nullptr);
  EXPECT_EQ(MoCatalog().find("a"), nullptr);
}

TEST(MoCatalog, TruncatedFilesAreEmpty) {
  const std::string bytes = mo_bytes(kTexts);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const std::string part = bytes.substr(0, size);  // so that the sanitizer sees its end
    const MoCatalog catalog(part);
    EXPECT_EQ(catalog.size(), 0U) << size;
    read_all(catalog);
  }
}

TEST(MoCatalog, MalformedFilesAreSafe) {
  const std::string bytes = mo_bytes(kTexts);
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (const int value : {0x00, 0x01, 0x7F, 0x80, 0xFF}) {
      std::string changed = bytes;
      changed[at] = static_cast<char>(value);
      read_all(MoCatalog(changed));
    }
  }
}

TEST(MoCatalog, UnsortedFilesAreEmpty) {
  std::string bytes = mo_bytes({{"a", "1"}, {"b", "2"}});
  bytes[bytes.find('a', 20)] = 'c';
  EXPECT_EQ(MoCatalog(bytes).size(), 0U);
}

}  // namespace
}  // namespace lab::test
