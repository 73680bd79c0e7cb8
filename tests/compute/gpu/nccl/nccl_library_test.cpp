#include "compute/gpu/nccl/nccl_library.h"

#include <gtest/gtest.h>

namespace lab::nccl {
namespace {

TEST(NcclLibrary, ReadsTheVersion) {
  const Maybe<Library> library = open_library(LAB_FAKE_NCCL);
  ASSERT_TRUE(library) << library.reason();
  EXPECT_EQ(library->version, "2.28.9");
  EXPECT_EQ(library->group_start(), kSuccess);
}

TEST(NcclLibrary, NamesWhatIsMissing) {
  EXPECT_NE(open_library("libnccl-absent.so.2").reason().find("libnccl-absent.so.2"),
            std::string::npos);
  const std::string incomplete = open_library(LAB_FAKE_NCCL_INCOMPLETE).reason();
  EXPECT_NE(incomplete.find("no function ncclAllReduce"), std::string::npos) << incomplete;
  const std::string newer = open_library(LAB_FAKE_NCCL_NEWER).reason();
  EXPECT_NE(newer.find("NCCL 3.0.1"), std::string::npos) << newer;
}

}  // namespace
}  // namespace lab::nccl
