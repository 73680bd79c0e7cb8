#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/compute/gpu/library/headers_check.h"

namespace lab::test {
namespace {

TEST(LayerLibraries, AreDeclaredAsInTheirHeaders) {
  EXPECT_EQ(differences_from_headers(), std::vector<std::string>{});
}

}  // namespace
}  // namespace lab::test
