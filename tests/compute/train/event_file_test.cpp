// TensorBoard event files.
#include "compute/train/event_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <string>

#include "compute/core/files/whole_file.h"
#include "compute/experiments/training/training_experiment.h"
#include "compute/train/event_log.h"
#include "tests/support/errors.h"
#include "tests/support/probe.h"
#include "tests/support/temp_dir.h"

namespace lab {
namespace {

namespace fs = std::filesystem;

std::string hex(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return text;
}

// The check value of the algorithm, and those of RFC 3720, appendix B.4.
TEST(EventFile, ComputesTheCastagnoliChecksum) {
  EXPECT_EQ(crc32c(""), 0U);
  EXPECT_EQ(crc32c("123456789"), 0xE3069283U);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AAU);
  EXPECT_EQ(crc32c(std::string(32, '\xFF')), 0x62A8AB43U);
}

// The expected bytes were written by TensorBoard 2.21.
TEST(EventFile, WritesTheBytesThatTensorBoardWrites) {
  EXPECT_EQ(hex(version_record(1.5)),
            "1800000000000000a37f4b2209000000000000f83f1a0d627261696e2e4576656e743a322a28646c");
  const std::array<Scalar, 2> scalars{{{"loss/train", 2.5}, {"accuracy/train", 0.25}}};
  EXPECT_EQ(
      hex(scalar_record(1700000000.25, 300, scalars)),
      "3800000000000000a3797d570900001040fc54d94110ac022a2a0a110a0a6c6f73732f747261696e1500002040"
      "0a150a0e61636375726163792f747261696e150000803e523d2e1f");
}

TEST(EventFile, NamesAFileThatCannotBeWritten) {
  const std::string message =
      test::message_of([] { const EventFile file("/proc/nothing"); }, Errc::Io);
  EXPECT_NE(message.find("/proc/nothing"), std::string::npos) << message;
}

TEST(EventFile, EveryRunHasItsOwnFolder) {
  const test::TempDir dir;
  const fs::path first = event_folder(dir.path(), "lenet");
  EXPECT_TRUE(first.filename().string().starts_with("lenet-")) << first;
  fs::create_directories(first);
  EXPECT_NE(event_folder(dir.path(), "lenet"), first);
}

TEST(EventFile, HoldsTheStepsAndEpochsOfATraining) {
  const test::TempDir dir;
  StartTraining request;
  request.model = "softmax";
  request.synthetic_train = 256;
  request.synthetic_test = 64;
  request.batch = 128;
  request.epochs = 2;
  request.logdir = (dir.path() / "events").string();
  test::Probe probe;
  probe.run(*make_training_experiment(request));
  const fs::path folder = *fs::directory_iterator(request.logdir);
  const std::string bytes = files::read_text_file(*fs::directory_iterator(folder));
  std::size_t records = 0, at = 0;
  while (at < bytes.size()) {
    ASSERT_LE(at + 12, bytes.size());
    std::uint64_t length = 0;
    for (int i = 7; i >= 0; --i) {
      length = length << 8 | static_cast<unsigned char>(bytes[at + static_cast<std::size_t>(i)]);
    }
    at += 16 + length;
    ++records;
  }
  EXPECT_EQ(at, bytes.size());
  EXPECT_EQ(records, 1U + 4U + 2U) << "version, steps, epochs";
  for (const char* tag : {"loss/train", "accuracy/train", "accuracy/test", "speed/images_per_s"}) {
    EXPECT_NE(bytes.find(tag), std::string::npos) << tag;
  }
}

}  // namespace
}  // namespace lab
