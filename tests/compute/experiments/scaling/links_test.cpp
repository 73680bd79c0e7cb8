#include "compute/experiments/scaling/links.h"

#include <gtest/gtest.h>

#include <set>

#include "compute/core/error.h"
#include "compute/core/fields/request_fields.h"
#include "tests/support/errors.h"

namespace lab {
namespace {

TEST(Links, HaveUniqueNamesPlausibleFiguresAndSources) {
  std::set<std::string> names;
  for (const Link& link : links()) {
    SCOPED_TRACE(link.name);
    EXPECT_TRUE(names.insert(link.name).second);
    EXPECT_GT(link.latency_s, 1e-7);
    EXPECT_LT(link.latency_s, 1e-3);
    EXPECT_GT(link.gb_per_s, 0.1);
    EXPECT_LT(link.gb_per_s, 1000);
    EXPECT_NE(link.sentence.find('('), std::string::npos) << "where the figures come from";
  }
  EXPECT_EQ(link_names().size(), links().size());
}

// --link and the page take their names from kLinkNames.
TEST(Links, MatchTheDeclaredNamesInOrder) {
  std::vector<std::string> declared;
  for (const ValueName& link : kLinkNames) declared.emplace_back(link.name);
  EXPECT_EQ(declared, link_names());
}

TEST(Links, FasterGenerationsAreFaster) {
  EXPECT_LT(find_link("pcie3").gb_per_s, find_link("pcie4").gb_per_s);
  EXPECT_LT(find_link("pcie4").gb_per_s, find_link("pcie5").gb_per_s);
  EXPECT_LT(find_link("nvlink2").gb_per_s, find_link("nvlink").gb_per_s);
  EXPECT_LT(find_link("ethernet10").gb_per_s, find_link("ethernet100").gb_per_s);
}

TEST(Links, UnknownNameListsTheChoices) {
  const std::string message = test::message_of([] { find_link("token-ring"); }, Errc::NotFound);
  EXPECT_NE(message.find("'token-ring'"), std::string::npos) << message;
  for (const std::string& name : link_names()) {
    EXPECT_NE(message.find(name), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace lab
