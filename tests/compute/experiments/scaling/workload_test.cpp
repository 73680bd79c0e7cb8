#include "compute/experiments/scaling/workload.h"

#include <gtest/gtest.h>

#include "compute/core/error.h"

namespace lab {
namespace {

constexpr std::int64_t kBucket_bytes = std::int64_t{25} << 20;
constexpr double kResNetParameters = 11'175'818;

double total(const std::vector<BucketLoad>& loads) {
  double bytes = 0;
  for (const BucketLoad& load : loads) bytes += load.bytes;
  return bytes;
}

TEST(BucketLoads, HoldEveryGradientOnce) {
  for (const std::int64_t bucket : {kBucket_bytes, std::int64_t{1} << 20, std::int64_t{1024}}) {
    const auto loads = bucket_loads("resnet18", bucket);
    EXPECT_GE(total(loads), 4 * kResNetParameters);
    // Each of the 62 tensors may be followed by a gap of at most 15 floats.
    EXPECT_LE(total(loads), 4 * (kResNetParameters + 62 * 15));
  }
}

TEST(BucketLoads, BecomeReadyInTheirOrderAndTheLastWithBackward) {
  for (const char* model : {"softmax", "mlp", "lenet", "resnet18"}) {
    SCOPED_TRACE(model);
    const auto loads = bucket_loads(model, 64 << 10);
    ASSERT_FALSE(loads.empty());
    double before = 0;
    for (const BucketLoad& load : loads) {
      EXPECT_GT(load.ready, 0);
      EXPECT_GE(load.ready, before);
      before = load.ready;
    }
    EXPECT_NEAR(loads.back().ready, 1, 1e-12);
  }
}

// The last block has three quarters of the parameters at under a third of the work: its gradients
// are ready early, which is what overlap lives from.
TEST(BucketLoads, ResNetsLargeGradientsAreReadyEarly) {
  const auto loads = bucket_loads("resnet18", kBucket_bytes);
  ASSERT_GE(loads.size(), 2U);
  EXPECT_GT(loads.front().bytes, 0.4 * total(loads));
  EXPECT_LT(loads.front().ready, 0.4);
  EXPECT_LT(loads.back().bytes, 0.05 * total(loads));
}

TEST(BucketLoads, AnUnknownModelIsRefused) {
  EXPECT_THROW(bucket_loads("vgg", kBucket_bytes), Error);
}

}  // namespace
}  // namespace lab
