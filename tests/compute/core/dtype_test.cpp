#include "compute/core/dtype.h"

#include <gtest/gtest.h>

#include "compute/core/error.h"
#include "compute/core/events/event.h"
#include "tests/support/errors.h"

namespace lab {
namespace {

TEST(Precision, RoundTripsNames) {
  for (const Precision p : {Precision::F32, Precision::BF16, Precision::TF32}) {
    EXPECT_EQ(parse_precision(to_string(p)), p);
  }
  EXPECT_EQ(test::message_of([] { parse_precision("fp8"); }, Errc::Usage),
            "unknown dtype 'fp8'; choose f32, bf16 or tf32");
}

TEST(Precision, Tf32IsStoredAsF32) {
  EXPECT_EQ(storage_of(Precision::TF32), DType::F32);
  EXPECT_EQ(storage_of(Precision::F32), DType::F32);
  EXPECT_EQ(storage_of(Precision::BF16), DType::BF16);
}

TEST(RungInfo, SupportsListedTypesOrAll) {
  RungInfo rung;
  EXPECT_TRUE(takes(rung, Precision::TF32));
  rung.takes = {Precision::F32, Precision::BF16};
  EXPECT_TRUE(takes(rung, Precision::BF16));
  EXPECT_FALSE(takes(rung, Precision::TF32));
}

}  // namespace
}  // namespace lab
