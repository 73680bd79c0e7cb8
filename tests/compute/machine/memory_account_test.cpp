#include "compute/machine/memory_account.h"

#include <gtest/gtest.h>

#include "compute/core/error.h"
#include "compute/core/units.h"

namespace lab {
namespace {

TEST(MemoryAccount, ChargesAndReleasesExactly) {
  MemoryAccount account(cpu(0), 1000);
  const TensorId a = account.reserve(400, {});
  const TensorId b = account.reserve(600, {});
  EXPECT_EQ(account.used_bytes(), 1000);
  account.release(a);
  account.release(a);  // a second release has no effect
  EXPECT_EQ(account.used_bytes(), 600);
  EXPECT_EQ(account.peak_bytes(), 1000);
  account.release(b);
  EXPECT_EQ(account.used_bytes(), 0);
}

TEST(MemoryAccount, RejectsWithRequestedAndFreeBytes) {
  MemoryAccount account(cpu(1), 22 * kGiB);
  account.reserve(2 * kGiB, {});
  try {
    account.reserve(40 * kGiB, {});
    FAIL() << "no exception was thrown";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Errc::OutOfMemory);
    EXPECT_STREQ(e.what(),
                 "cpu:1: 40.0 GiB requested, 20.0 GiB free of 22.0 GiB; free some tensors, or "
                 "choose a smaller "
                 "size or another device");
  }
  EXPECT_EQ(account.used_bytes(), 2 * kGiB);
  EXPECT_EQ(account.list().size(), 1U);
}

TEST(MemoryAccount, AdvisesToFreeTensorsOnlyWhereThereAreSome) {
  MemoryAccount account(cpu(), 100);
  try {
    account.reserve(101, {});
    FAIL() << "no exception was thrown";
  } catch (const Error& e) {
    EXPECT_EQ(std::string(e.what()).find("free some"), std::string::npos) << e.what();
  }
}

TEST(MemoryAccount, RejectsMoreThanTheMachineHasLeft) {
  MemoryAccount account(cpu(0), 8 * kGiB, [] { return 100 * kMiB; });
  EXPECT_NO_THROW(account.reserve(100 * kMiB, {}));
  try {
    account.reserve(101 * kMiB, {});
    FAIL() << "no exception was thrown";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Errc::OutOfMemory);
    EXPECT_NE(std::string(e.what()).find("101 MiB requested"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("only 100 MiB"), std::string::npos) << e.what();
  }
}

TEST(MemoryAccount, RejectsNegativeSizes) {
  MemoryAccount account(cpu(0), 0);
  EXPECT_THROW(account.reserve(-1, {}), Error);
  EXPECT_NO_THROW(account.reserve(0, {}));
  EXPECT_THROW(account.reserve(1, {}), Error);
}

TEST(MemoryAccount, IdsAreUniqueAcrossDevices) {
  MemoryAccount a(cpu(0), 10), b(cpu(1), 10);
  const TensorId first = a.reserve(1, {}), second = b.reserve(1, {}), third = a.reserve(1, {});
  EXPECT_LT(first, second);
  EXPECT_LT(second, third);
}

TEST(MemoryAccount, DescribesAllocations) {
  MemoryAccount account(cpu(2), 100);
  const TensorId id = account.reserve(8, {});
  TensorInfo info;
  info.id = 99;
  info.device = cpu(0);
  info.bytes = 5;
  info.name = "X1";
  info.shape = {1, 2};
  info.preview = "0, 1";
  account.describe(id, info);
  info.name = "nobody";
  account.describe(id + 1000, info);
  const auto list = account.list();
  ASSERT_EQ(list.size(), 1U);
  EXPECT_EQ(list[0].id, id);
  EXPECT_EQ(list[0].device, cpu(2));
  EXPECT_EQ(list[0].bytes, 8);
  EXPECT_EQ(list[0].name, "X1");
  EXPECT_EQ(list[0].shape, (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(list[0].preview, "0, 1");
}

}  // namespace
}  // namespace lab
