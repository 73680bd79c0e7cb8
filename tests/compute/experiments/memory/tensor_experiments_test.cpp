#include "compute/experiments/memory/tensor_experiments.h"

#include <gtest/gtest.h>

#include "compute/core/error.h"
#include "compute/core/events/tensor_code.h"
#include "tests/support/errors.h"
#include "tests/support/probe.h"

namespace lab {
namespace {

using test::message_of;
using test::Probe;

template <typename Request>
void run(Probe& probe, const Request& request) {
  probe.run(*make_tensor_experiment(request));
}

TensorId make(Probe& probe, Device device, Fill fill = Fill::Ones,
              std::vector<std::int64_t> shape = {2, 3}) {
  MakeTensor request;
  request.device = device;
  request.shape = std::move(shape);
  request.fill = fill;
  run(probe, request);
  return probe.all<TensorList>().back().tensors.back().id;
}

TEST(TensorExperiments, MakeEndsWithTheListOfAllDevices) {
  Probe probe(2);
  make(probe, cpu(1));
  make(probe, cpu(0), Fill::Arange, {4});
  const auto list = probe.all<TensorList>().back().tensors;
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0].name, "X1");
  EXPECT_EQ(list[0].device, cpu(1));
  EXPECT_TRUE(list[0].owned_by_page);
  EXPECT_EQ(list[1].name, "X2");
  EXPECT_EQ(list[1].preview, "0, 1, 2, 3");
  EXPECT_EQ(list[1].bytes, 16);
}

TEST(TensorExperiments, MakeReplacesATensorOfItsName) {
  Probe probe(2);
  MakeTensor request;
  request.name = "X";
  for (const std::int64_t size : {2, 3}) {
    request.shape = {size};
    run(probe, request);
  }
  const auto list = probe.all<TensorList>().back().tensors;
  ASSERT_EQ(list.size(), 1U);
  EXPECT_EQ(list[0].shape, std::vector<std::int64_t>{3});
}

TEST(TensorExperiments, SeedDeterminesTheValues) {
  Probe probe(2);
  MakeTensor request;
  request.shape = {100};
  request.fill = Fill::Randn;
  request.seed = 4;
  run(probe, request);
  request.device = cpu(1);
  run(probe, request);
  const auto list = probe.all<TensorList>().back().tensors;
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0].preview, list[1].preview);
}

TEST(TensorExperiments, CopyAllocatesNewStorageOnTheSameDeviceToo) {
  Probe probe(2);
  const TensorId id = make(probe, cpu(0), Fill::Arange, {3});
  for (const Device to : {cpu(1), cpu(0)}) {
    run(probe, CopyTensor{id, to});
    const TensorInfo copy = probe.all<TensorList>().back().tensors.back();
    EXPECT_NE(copy.id, id);
    EXPECT_EQ(copy.device, to);
    EXPECT_EQ(copy.name, "X1 on " + to_string(to));
    EXPECT_EQ(copy.preview, "0, 1, 2");
    const auto log = probe.all<LogLine>();
    ASSERT_EQ(log.size(), 1U);
    EXPECT_EQ(log[0].text.rfind("Copied X1 to " + to_string(to) + " in ", 0), 0U) << log[0].text;
    EXPECT_TRUE(log[0].text.ends_with("B/s), including first use of new memory")) << log[0].text;
  }
  run(probe, CopyTensor{id, cpu(1)});
  EXPECT_EQ(probe.all<TensorList>().back().tensors.back().name, "X1 on cpu:1 (2)");
}

TEST(TensorExperiments, AddNeedsOneDevice) {
  Probe probe(2);
  const TensorId a = make(probe, cpu(0)), b = make(probe, cpu(1)), c = make(probe, cpu(0));
  EXPECT_EQ(message_of(
                [&] {
                  run(probe, AddTensors{a, b});
                },
                Errc::DeviceMismatch),
            "add: X1 is on cpu:0 and X2 on cpu:1; copy one first: X1.copy_to(cpu:1)");
  run(probe, AddTensors{a, c});
  const TensorInfo sum = probe.all<TensorList>().back().tensors.back();
  EXPECT_EQ(sum.name, "X1 + X3");
  EXPECT_EQ(sum.preview, "2, 2, 2, 2, 2, 2");
}

TEST(TensorExperiments, AddCopiesToTheRequestedDevice) {
  Probe probe(2);
  const TensorId a = make(probe, cpu(0)), b = make(probe, cpu(1));
  run(probe, AddTensors{a, b, cpu(1)});
  const auto tensors = probe.all<TensorList>().back().tensors;
  ASSERT_EQ(tensors.size(), 3U) << "the copy is freed";
  EXPECT_EQ(tensors.back().device, cpu(1));
  EXPECT_EQ(tensors.back().preview, "2, 2, 2, 2, 2, 2");
  const auto log = probe.all<LogLine>();
  ASSERT_EQ(log.size(), 1U);
  EXPECT_EQ(log[0].text.rfind("Copied X1 to cpu:1 in ", 0), 0U) << log[0].text;
  EXPECT_NE(log[0].text.find("Created X1 + X2 on cpu:1 (24 B)"), std::string::npos) << log[0].text;
}

TEST(TensorExperiments, FreeReleasesTheMemory) {
  Probe probe;
  const TensorId id = make(probe, cpu(0));
  EXPECT_GT(probe.machine.at(cpu(0)).memory().used_bytes(), 0);
  run(probe, FreeTensor{id});
  EXPECT_TRUE(probe.all<TensorList>().back().tensors.empty());
  EXPECT_EQ(probe.machine.at(cpu(0)).memory().used_bytes(), 0);
  EXPECT_EQ(probe.all<LogLine>().back().text, "Freed X1 (24 B)");
  message_of([&] { run(probe, FreeTensor{id}); }, Errc::NotFound);
}

TEST(TensorExperiments, RejectsInvalidRequests) {
  Probe probe;
  MakeTensor request;
  request.shape = {2};
  request.device = gpu(0);
  EXPECT_EQ(
      message_of([&] { run(probe, request); }, Errc::NotFound).rfind("cuda:0 cannot be used", 0),
      0U);
  request.device = cpu(0);
  request.shape = {std::int64_t{1} << 40};
  const std::string refused = message_of([&] { run(probe, request); }, Errc::OutOfMemory);
  EXPECT_EQ(refused.rfind("cpu:0: 4.00 TiB requested, ", 0), 0U) << refused;
  request.shape = {-1};
  message_of([&] { run(probe, request); }, Errc::InvalidArgument);
  request.shape = {2};
  request.fill = Fill::Rand;
  request.dtype = DType::I32;
  EXPECT_EQ(message_of([&] { run(probe, request); }, Errc::InvalidArgument),
            "rand: dtype is i32 but random values are floating-point; choose f32 or bf16");
  EXPECT_EQ(probe.machine.at(cpu(0)).memory().used_bytes(), 0);
}

TEST(TensorExperiments, CancelReleasesTheMemory) {
  Probe probe;
  probe.stop.request_stop();
  message_of([&] { make(probe, cpu(0), Fill::Randn, {1 << 20}); }, Errc::Cancelled);
  EXPECT_EQ(probe.machine.at(cpu(0)).memory().used_bytes(), 0);
}

// Runs statements on two CPU devices; results accumulate.
struct TensorCode : ::testing::Test {
  Probe probe{2};

  void code(std::initializer_list<const char*> statements) {
    RunTensorCode request;
    for (const char* text : statements) request.statements.push_back(parse_tensor_statement(text));
    run(probe, request);
  }
  TensorResult last() { return probe.all<TensorResult>().back(); }
  std::vector<TensorInfo> live() { return probe.all<TensorList>().back().tensors; }
};

TEST_F(TensorCode, ReportsEachResult) {
  code({"X = tensor([[1, 2], [3, 4]], device=cpu:1)", "X + X"});
  const auto results = probe.all<TensorResult>();
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(results[0].tensor->name, "X");
  EXPECT_EQ(results[0].tensor->device, cpu(1));
  EXPECT_EQ(results[0].tensor->bytes, 16);
  EXPECT_EQ(results[1].statement, "X + X");
  EXPECT_EQ(results[1].grid.values, (std::vector<double>{2, 4, 6, 8}));
  EXPECT_EQ(results[1].tensor->name, "");
  ASSERT_EQ(live().size(), 1U) << "a result without a name is dropped";
  EXPECT_EQ(live()[0].preview, "1, 2, 3, 4");
}

TEST_F(TensorCode, RandomTensorsDifferUnlessTheyHaveTheSameSeed) {
  code({"A = rand(4)", "B = rand(4)", "rand(4, seed=1)", "ones(4)", "randn(4)"});
  const auto results = probe.all<TensorResult>();
  ASSERT_EQ(results.size(), 5U);
  EXPECT_NE(results[0].grid.values, results[1].grid.values);
  EXPECT_EQ(results[1].grid.values, results[2].grid.values) << "the second has seed 1";
  code({"randn(4, seed=2)"});
  EXPECT_EQ(last().grid.values, results[4].grid.values) << "only random tensors take a seed";
}

TEST_F(TensorCode, TellsDeviceShapeAndType) {
  code({"X = ones(2, 3, device=cpu:1, dtype=i32)", "X.device", "X.shape", "X.dtype"});
  const auto results = probe.all<TensorResult>();
  ASSERT_EQ(results.size(), 4U);
  EXPECT_EQ(results[1].answer, "cpu:1");
  EXPECT_EQ(results[2].answer, "[2,3]");
  EXPECT_EQ(results[3].answer, "i32");
  EXPECT_FALSE(results[1].tensor);
}

TEST_F(TensorCode, OnlyALargeCopyTellsItsRate) {
  code({"X = ones(20000)", "Y = X.copy_to(cpu:1)"});
  const std::string large = describe(last());
  EXPECT_NE(large.find("B/s), including first use of new memory"), std::string::npos) << large;
  code({"X = ones(6)", "Y = X.copy_to(cpu:1)"});
  const std::string small = describe(last());
  EXPECT_NE(small.find("s, including first use of new memory"), std::string::npos) << small;
}

TEST_F(TensorCode, ToKeepsTheStorageAndCopyToDoesNot) {
  code({"X = ones(3)", "Y = X.to(cpu:0)"});
  EXPECT_EQ(last().aliases, std::vector<std::string>{"X"});
  EXPECT_FALSE(last().copy_s);
  ASSERT_EQ(live().size(), 1U);
  EXPECT_EQ(live()[0].name, "X, Y");
  code({"Z = X.copy_to(cpu:0)"});
  EXPECT_TRUE(last().aliases.empty());
  EXPECT_TRUE(last().copy_s);
  EXPECT_EQ(live().size(), 2U);
  code({"Z = X.to(cpu:1)"});
  EXPECT_TRUE(last().copy_s);
  EXPECT_EQ(last().tensor->device, cpu(1));
  EXPECT_EQ(live().size(), 2U) << "the former Z is freed";
}

TEST_F(TensorCode, StorageLivesUntilItsLastNameIsDeleted) {
  code({"X = ones(3)", "Y = X", "del X"});
  EXPECT_FALSE(last().tensor);
  ASSERT_EQ(live().size(), 1U);
  EXPECT_EQ(live()[0].name, "Y");
  EXPECT_NE(message_of([&] { code({"X"}); }, Errc::NotFound).find("tensor 'X' is not defined"),
            std::string::npos);
  code({"del Y"});
  EXPECT_TRUE(live().empty());
  code({"X = ones(2)", "X = X + X", "X"});
  EXPECT_EQ(last().tensor->preview, "2, 2");
  EXPECT_TRUE(last().aliases.empty());
  EXPECT_EQ(live().size(), 1U);
}

TEST_F(TensorCode, NothingIsCopiedSilently) {
  const std::string message = message_of(
      [&] {
        code({"X = ones(3)", "Y = ones(3, device=cpu:1)", "X + Y", "del X"});
      },
      Errc::DeviceMismatch);
  EXPECT_NE(message.find("X is on cpu:0 and Y on cpu:1"), std::string::npos) << message;
  EXPECT_EQ(probe.all<TensorResult>().size(), 2U) << "statements after the error do not run";
  EXPECT_EQ(live().size(), 2U);
}

TEST_F(TensorCode, FallsBackToTheCpuOnlyIfAsked) {
  code({"X = ones(2, device=try_gpu(9))"});
  EXPECT_EQ(last().tensor->device, cpu(0));
  message_of([&] { code({"X = ones(2, device=gpu(9))"}); }, Errc::NotFound);
  message_of([&] { code({"X.to(cpu:7)"}); }, Errc::NotFound);
}

TEST_F(TensorCode, RefusesValuesThatDoNotFit) {
  const std::string message =
      message_of([&] { code({"tensor([1, 300], dtype=u8)"}); }, Errc::InvalidArgument);
  EXPECT_NE(message.find("tensor: 300 does not fit in u8"), std::string::npos) << message;
  message_of([&] { code({"tensor([9007199254740993e3], dtype=i64)"}); }, Errc::InvalidArgument);
}

}  // namespace
}  // namespace lab
