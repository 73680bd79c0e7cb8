// The window may not include the links it offers, so their list stands in two places.
#include <gtest/gtest.h>

#include "compute/experiments/scaling/links.h"
#include "ui/model/forms.h"

namespace lab::ui {
namespace {

TEST(ScalingLinks, TheFormOffersThoseThatPredictionsKnow) {
  std::vector<std::string> offered;
  for (const LinkChoice& link : scaling_links()) offered.emplace_back(link.name);
  EXPECT_EQ(offered, link_names());
}

}  // namespace
}  // namespace lab::ui
