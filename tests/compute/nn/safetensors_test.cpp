#include "compute/nn/safetensors.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>

#include "compute/core/error.h"
#include "compute/nn/models.h"
#include "compute/nn/state_dict.h"
#include "tests/support/temp_dir.h"

namespace lab::nn {
namespace {

std::vector<std::byte> bytes_of(const std::string& text) {
  std::vector<std::byte> bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

std::vector<std::byte> file_with(const std::string& header, std::size_t data_bytes) {
  std::string file(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) file[i] = static_cast<char>(header.size() >> (8 * i));
  return bytes_of(file + header + std::string(data_bytes, '\0'));
}

// Returns the message; the error must be Error(Corrupt).
std::string refusal(const std::vector<std::byte>& file) {
  try {
    parse_safetensors(file);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::Corrupt);
    return error.what();
  }
  return "accepted";
}

std::string refusal(const std::string& header, std::size_t data_bytes) {
  return refusal(file_with(header, data_bytes));
}

TEST(Safetensors, ReadsWhatItWrites) {
  const std::vector<float> a = {1, 2, 3, 4, 5, 6};
  const std::int64_t b = -7;
  const std::vector<TensorView> tensors = {{"a", DType::F32, {2, 3}, std::as_bytes(std::span(a))},
                                           {"b", DType::I64, {}, std::as_bytes(std::span(&b, 1))},
                                           {"none", DType::U8, {0, 4}, {}}};
  const std::vector<std::byte> file = format_safetensors(tensors);
  const std::vector<TensorView> back = parse_safetensors(file);
  ASSERT_EQ(back.size(), 3U);
  EXPECT_EQ(back[0].name, "a");
  EXPECT_EQ(back[0].shape, (Shape{2, 3}));
  EXPECT_TRUE(std::ranges::equal(back[0].data, tensors[0].data));
  EXPECT_EQ(back[1].dtype, DType::I64);
  EXPECT_TRUE(std::ranges::equal(back[1].data, tensors[1].data));
  EXPECT_EQ(back[1].data.data() - file.data(), back[0].data.data() - file.data() - 8);
  EXPECT_TRUE(back[2].data.empty());
}

TEST(Safetensors, RejectsInvalidLengths) {
  EXPECT_NE(refusal(bytes_of("abc")).find("3 bytes"), std::string::npos);
  EXPECT_NE(refusal(bytes_of(std::string(8, '\xff'))).find("at most 16777216"), std::string::npos);
  EXPECT_NE(refusal(bytes_of(std::string("\x09\0\0\0\0\0\0\0{}", 10))).find("in a file of 10"),
            std::string::npos);
}

struct Hostile {
  const char* header;
  std::size_t data_bytes;
  const char* reason;
};

class HostileHeader : public testing::TestWithParam<Hostile> {};

TEST_P(HostileHeader, IsRejectedWithItsReason) {
  const std::string message = refusal(GetParam().header, GetParam().data_bytes);
  EXPECT_NE(message.find(GetParam().reason), std::string::npos) << message;
}

INSTANTIATE_TEST_SUITE_P(
    Headers, HostileHeader,
    testing::Values(
        Hostile{"", 0, "does not begin with '{'"}, Hostile{"[1]", 0, "does not begin with '{'"},
        Hostile{"{\"a\":", 0, "is not JSON"},
        Hostile{"{\"a\":[[[[[[[[]]]]]]]]}", 0, "nested too deeply"},
        Hostile{"{\"a\":3}", 0, "is not an object"},
        Hostile{R"({"a":{"shape":[],"data_offsets":[0,4]}})", 4, "has no dtype"},
        Hostile{R"({"a":{"dtype":"F16","shape":[2],"data_offsets":[0,4]}})", 4, "dtype 'F16'"},
        Hostile{R"({"a":{"dtype":"F32","data_offsets":[0,4]}})", 4, "has no shape"},
        Hostile{R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", 4, "non-negative"},
        Hostile{R"({"a":{"dtype":"F32","shape":[1.0],"data_offsets":[0,4]}})", 4, "non-negative"},
        Hostile{R"({"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,4]}})", 4,
                "more than 2^62 bytes"},
        Hostile{R"({"a":{"dtype":"F32","shape":[0,18446744073709551615],"data_offsets":[0,0]}})", 0,
                "more than 2^62 bytes"},
        Hostile{R"({"a":{"dtype":"F32","shape":[1]}})", 4, "needs data_offsets"},
        Hostile{R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4,8]}})", 4,
                "data_offsets with two"},
        Hostile{R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}})", 4, "offsets 4 to 0"},
        Hostile{R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 4, "0 to 8 of 4"},
        Hostile{R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})", 8,
                "needs 12 bytes but has 8"},
        Hostile{R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                R"("b":{"dtype":"U8","shape":[4],"data_offsets":[2,6]}})",
                6, "overlaps"},
        Hostile{R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                R"("b":{"dtype":"U8","shape":[4],"data_offsets":[5,9]}})",
                9, "a gap before"},
        Hostile{R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 7, "3 bytes after"},
        Hostile{R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                R"("a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})",
                1, "'a' twice"},
        Hostile{R"({"a":{"dtype":"U8","dtype":"U8","shape":[1],"data_offsets":[0,1]}})", 1,
                "'dtype' twice"},
        Hostile{R"({"__metadata__":{"k":1}})", 0, "strings only"},
        Hostile{R"({"__metadata__":{"k":["v"]}})", 0, "strings only"},
        Hostile{R"({"__metadata__":"v"})", 0, "strings only"},
        Hostile{R"({"a":["dtype","F32"]})", 0, "is not an object"},
        Hostile{R"({"a":{"dtype":"U8","shape":[[1]],"data_offsets":[0,1]}})", 1, "non-negative"},
        Hostile{R"({"a":{"dtype":"U8","shape":{"1":1},"data_offsets":[0,1]}})", 1, "has no shape"},
        Hostile{R"({"a":{"dtype":["U8"],"shape":[1],"data_offsets":[0,1]}})", 1, "has no dtype"},
        Hostile{R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,"1"]}})", 1, "non-negative"},
        Hostile{"{\"a\\u0000\\u001b[2J\":3}", 0, "the entry 'a??[2J' is not an object"}));

std::string entries(int count) {
  std::string header = "{";
  for (int i = 0; i < count; ++i) {
    header += fmt::format("{}\"{}\":{{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}}",
                          i == 0 ? "" : ",", count - i);
  }
  return header + "}";
}

// Quadratic parsing of either would take minutes.
TEST(Safetensors, ReadsManyEntriesAndRejectsTooMany) {
  const std::vector<TensorView> tensors = parse_safetensors(file_with(entries(20'000), 0));
  ASSERT_EQ(tensors.size(), 20'000U);
  EXPECT_EQ(tensors.front().name, "20000") << "in the order of the header";
  EXPECT_EQ(tensors.back().name, "1");
  EXPECT_NE(refusal(entries(100'001), 0).find("more than 100000 tensors"), std::string::npos);
  std::string long_header;
  long_header.resize(16'777'217, ' ');
  EXPECT_NE(refusal(long_header, 0).find("at most 16777216"), std::string::npos);
}

TEST(Safetensors, SkipsManyUnknownFields) {
  std::string entry = R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1],"more":[{})";
  for (int i = 0; i < 100'000; ++i) entry += ",{}";
  entry += "]";
  for (int i = 0; i < 200'000; ++i) entry += ",\"" + std::to_string(i) + "\":0";
  EXPECT_EQ(parse_safetensors(file_with(entry + "}}", 1)).size(), 1U);
}

TEST(Safetensors, RejectsTooManyDimensions) {
  std::string sizes = "1";
  for (int i = 0; i < 100'000; ++i) sizes += ",1";
  const std::string header =
      R"({"a":{"dtype":"U8","shape":[)" + sizes + R"(],"data_offsets":[0,1]}})";
  EXPECT_NE(refusal(header, 1).find("more than 64 dimensions"), std::string::npos);
}

class StateDictTest : public testing::Test {
 protected:
  std::vector<TensorView> views() const {
    std::vector<TensorView> all;
    for (const StateTensor& t : tensors_) all.push_back({t.name, t.dtype, t.shape, t.data});
    return all;
  }
  std::string refusal(const std::vector<TensorView>& tensors) {
    try {
      load_state_dict(network_, tensors, "file");
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Errc::Corrupt);
      return error.what();
    }
    return "accepted";
  }

  Machine machine_;
  Network network_{plan_model("lenet"), machine_.at(cpu()), 1, 1};
  std::vector<StateTensor> tensors_ = state_dict(network_);
};

TEST_F(StateDictTest, MissingAndUnexpectedNamesAreListed) {
  tensors_[2].name = "net.1.weight";
  EXPECT_EQ(refusal(views()),
            "file does not contain a lenet: missing net.3.weight; unexpected net.1.weight; was it "
            "saved from another model?");
}

TEST_F(StateDictTest, UnexpectedNamesAreShownWithoutControlCharacters) {
  tensors_.push_back(tensors_[1]);
  tensors_.back().name = std::string("\x1b[2J\0", 5) + std::string(100, '\xc3');
  const std::string message = refusal(views());
  EXPECT_NE(message.find("unexpected ?[2J?" + std::string(55, '?') + "...;"), std::string::npos)
      << message;
  EXPECT_TRUE(message.ends_with("was it saved from another model?"));
}

TEST_F(StateDictTest, RejectsWrongShapeDtypeAndValues) {
  auto tensors = views();
  tensors[2].shape = {6, 16, 5, 5};
  EXPECT_EQ(refusal(tensors),
            "file: net.3.weight has shape [6,16,5,5] but the model needs [16,6,5,5]");
  tensors = views();
  tensors[1].dtype = DType::I32;
  EXPECT_EQ(refusal(tensors), "file: net.0.bias has dtype i32 but the model needs f32");
  const float bad = -INFINITY;
  std::memcpy(tensors_[1].data.data() + 8, &bad, sizeof bad);
  EXPECT_EQ(refusal(views()), "file: element 2 of net.0.bias is -inf; all values must be finite");
}

TEST_F(StateDictTest, FailedLoadChangesNothing) {
  const std::vector<float> before(network_.flat_parameters().begin(),
                                  network_.flat_parameters().end());
  for (StateTensor& t : tensors_) std::fill(t.data.begin(), t.data.end(), std::byte{0});
  tensors_.back().shape = {1};
  EXPECT_NE(refusal(views()), "accepted");
  EXPECT_TRUE(std::equal(before.begin(), before.end(), network_.flat_parameters().begin()));
}

TEST(SavedNetwork, RoundTripIsBitIdentical) {
  const test::TempDir dir;
  Machine machine;
  Network saved(plan_model("resnet18"), machine.at(cpu()), 1, 4);
  saved.running()[3].mean[1] = 0.25F;
  saved.running()[3].batches = 12;
  save_network(saved, dir.path() / "a.safetensors");
  Network loaded(plan_model("resnet18"), machine.at(cpu()), 1, 5);
  load_network(loaded, dir.path() / "a.safetensors");
  EXPECT_TRUE(std::equal(saved.flat_parameters().begin(), saved.flat_parameters().end(),
                         loaded.flat_parameters().begin()));
  EXPECT_EQ(loaded.running()[3].mean[1], 0.25F);
  EXPECT_EQ(loaded.running()[3].batches, 12);
}

}  // namespace
}  // namespace lab::nn
