#include "compute/core/device.h"

#include <gtest/gtest.h>

#include "compute/core/error.h"

namespace lab {
namespace {

TEST(Device, ParsesEverySpelling) {
  EXPECT_EQ(parse_device("cpu"), cpu(0));
  EXPECT_EQ(parse_device("cpu:3"), cpu(3));
  EXPECT_EQ(parse_device("cuda"), gpu(0));
  EXPECT_EQ(parse_device("cuda:1"), gpu(1));
  EXPECT_EQ(parse_device("gpu:2"), gpu(2));
  EXPECT_EQ(parse_device("emu"), emulated_gpu(0));
  EXPECT_EQ(parse_device("emu:1"), emulated_gpu(1));
}

TEST(Device, RoundTrips) {
  for (const char* text : {"cpu:0", "cpu:15", "cuda:0", "cuda:7", "emu:0"}) {
    EXPECT_EQ(to_string(parse_device(text)), text);
  }
}

TEST(Device, RejectsUnknownDevices) {
  for (const char* text : {"", "tpu:0", "cpu:", "cpu:-1", "cpu:1x", "cpu:99999999999", "cuda 0"}) {
    SCOPED_TRACE(text);
    try {
      parse_device(text);
      FAIL() << "accepted";
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Errc::Usage);
      EXPECT_NE(std::string(e.what()).find(text), std::string::npos);
    }
  }
}

TEST(Device, RejectsDuplicateDevices) {
  EXPECT_EQ(parse_devices("cpu:0,cuda:1").size(), 2U);
  EXPECT_THROW(parse_devices("cuda:0,gpu:0"), Error);
  EXPECT_THROW(parse_devices("cpu:0,,cpu:1"), Error);
}

TEST(Device, EmulatedGpusAreGpusThatAreNeverTimed) {
  EXPECT_TRUE(is_gpu(gpu()) && is_gpu(emulated_gpu()) && !is_gpu(cpu()));
  EXPECT_TRUE(is_timed(gpu()) && is_timed(cpu()) && !is_timed(emulated_gpu()));
  require_timed("transfer", {});
  require_timed("transfer", {emulated_gpu(), cpu()});
  try {
    require_timed("transfer", {emulated_gpu(1), emulated_gpu(0)});
    FAIL() << "accepted";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Errc::Usage);
    EXPECT_NE(std::string(e.what()).find("transfer: emu:1"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace lab
