#include "compute/kernels/convolution/measured_chooser.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <fstream>
#include <thread>
#include <vector>

#include "compute/core/files/whole_file.h"
#include "compute/kernels/convolution/chooser.h"
#include "tests/support/errors.h"
#include "tests/support/temp_dir.h"
#include "tests/support/thread_sanitizer.h"

namespace lab {
namespace {

using simd::ConvShape;

// An algorithm that has a name but computes nothing.
class Named final : public ConvolutionAlgorithm {
 public:
  explicit Named(const char* name) : name_(name) {}
  const char* name() const override { return name_; }
  bool supports(const ConvolutionCase& /*c*/) const override { return true; }
  std::int64_t scratch_bytes(const ConvolutionCase& /*c*/) const override { return 0; }
  void forward(const ConvShape& /*shape*/, const ConvolutionContext& /*context*/,
               const float* /*x*/, const float* /*weight*/, const float* /*bias*/,
               float* /*y*/) const override {}
  void input_gradient(const ConvShape& /*shape*/, const ConvolutionContext& /*context*/,
                      const float* /*dy*/, const float* /*weight*/, float* /*dx*/,
                      bool /*accumulate*/) const override {}
  void weight_gradient(const ConvShape& /*shape*/, const ConvolutionContext& /*context*/,
                       const float* /*x*/, const float* /*dy*/,
                       float* /*d_weight*/) const override {}

 private:
  const char* name_;
};

const Named kSlow("slow"), kFast("fast"), kNew("new");

ConvolutionCase some_case() {
  return {.shape = simd::conv_shape(8, 8, 4, 4, 3, 1, 1), .batch = 16, .threads = 1};
}

// Races with predetermined times.
struct FakeTimings {
  std::vector<const ConvolutionAlgorithm*> eligible = {&kSlow, &kFast};
  std::vector<double> seconds = {2, 1};
  std::atomic<int> measurements = 0;
  std::vector<std::int64_t> batches;

  MeasuredChooserOptions options() {
    return {.processor = "processor",
            .eligible = [this](const ConvolutionCase&) { return eligible; },
            .time_algorithms =
                [this](const auto& algorithms, const ConvolutionCase& c, ThreadPool&,
                       const std::stop_token&) {
                  ++measurements;
                  batches.push_back(c.batch);
                  return std::vector<double>(seconds.begin(),
                                             seconds.begin() + std::ssize(algorithms));
                }};
  }
};

class MeasuredChoice : public ::testing::Test {
 protected:
  // Chooses as a new process would, with only the file carried over.
  std::string choose_again(const ConvolutionCase& c = some_case()) {
    RememberedChoices choices(file_);
    MeasuredChooser chooser(choices, timings_.options());
    std::string name = chooser.choose(c, pool_).name();
    problem_ = choices.problem();
    return name;
  }

  const test::TempDir folder_;
  const std::filesystem::path file_ = folder_.path() / "below" / "convolutions.json";
  ThreadPool pool_{{0}};
  FakeTimings timings_;
  std::string problem_;
};

TEST_F(MeasuredChoice, IsTheFastestAndMeasuredOnce) {
  RememberedChoices choices(file_);
  MeasuredChooser chooser(choices, timings_.options());
  EXPECT_STREQ(chooser.choose(some_case(), pool_).name(), "fast");
  timings_.seconds = {1, 2};
  EXPECT_STREQ(chooser.choose(some_case(), pool_).name(), "fast");
  EXPECT_EQ(timings_.measurements, 1);
  EXPECT_EQ(choices.problem(), "");
}

TEST_F(MeasuredChoice, IsTheSameInTheNextRun) {
  EXPECT_EQ(choose_again(), "fast");
  timings_.seconds = {1, 2};
  EXPECT_EQ(choose_again(), "fast");
  EXPECT_EQ(timings_.measurements, 1);
}

TEST_F(MeasuredChoice, IsMeasuredAgainWithANewCandidate) {
  EXPECT_EQ(choose_again(), "fast");
  timings_.eligible.push_back(&kNew);
  timings_.seconds = {3, 2, 1};
  EXPECT_EQ(choose_again(), "new");
  timings_.eligible.pop_back();
  timings_.seconds = {1, 2};
  EXPECT_EQ(choose_again(), "fast") << "the older choice is still stored";
  EXPECT_EQ(timings_.measurements, 2);
}

TEST_F(MeasuredChoice, NeedsNoMeasurementForOneCandidate) {
  timings_.eligible = {&kSlow};
  EXPECT_EQ(choose_again(), "slow");
  EXPECT_EQ(timings_.measurements, 0);
}

TEST_F(MeasuredChoice, IsSharedByNeighbouringBatches) {
  RememberedChoices choices(file_);
  MeasuredChooser chooser(choices, timings_.options());
  ConvolutionCase c = some_case();
  for (const std::int64_t batch : {1, 2, 3, 32, 50, 63, 64, 100, 256}) {
    c.batch = batch;
    chooser.choose(c, pool_);
  }
  EXPECT_EQ(timings_.batches, (std::vector<std::int64_t>{1, 2, 32, 64}));
}

// Not on the number of threads: with another algorithm, results would have other bits.
TEST_F(MeasuredChoice, DependsOnStageOperandTypeAndShape) {
  ConvolutionCase c = some_case();
  choose_again(c);
  c.stage = ConvolutionStage::WeightGradient;
  choose_again(c);
  c.threads = 2;
  choose_again(c);
  c.products = Precision::BF16;
  choose_again(c);
  c.shape.stride = 2;
  choose_again(c);
  EXPECT_EQ(timings_.measurements, 4);
}

TEST_F(MeasuredChoice, IsMeasuredAgainIfTheFileIsDamaged) {
  for (const char* text : {"", "{", "[1, 2]", "{\"version\": 2, \"choices\": 7}"}) {
    SCOPED_TRACE(text);
    std::filesystem::create_directories(file_.parent_path());
    files::write_file(file_, std::string_view(text));
    const int before = timings_.measurements;
    EXPECT_EQ(choose_again(), "fast");
    EXPECT_NE(problem_.find("damaged"), std::string::npos) << problem_;
    EXPECT_EQ(choose_again(), "fast");
    EXPECT_EQ(problem_, "");
    EXPECT_EQ(timings_.measurements, before + 1);
  }
}

TEST_F(MeasuredChoice, IsMeasuredAgainOnVersionMismatchOrUnknownName) {
  choose_again();
  std::string text = files::read_text_file(file_);
  text.replace(text.find("\"fast\""), 6, "\"gone\"");
  files::write_file(file_, text);
  EXPECT_EQ(choose_again(), "fast");
  text = files::read_text_file(file_);
  text.replace(text.find("\"version\": "), 11, "\"version\": 9");
  files::write_file(file_, text);
  EXPECT_EQ(choose_again(), "fast");
  EXPECT_EQ(timings_.measurements, 3);
}

// With a quadratic parse, this test would exceed its time limit.
TEST_F(MeasuredChoice, ParsesALargeFileOnlyOnce) {
  SKIP_UNDER_THREAD_SANITIZER();
  choose_again();
  std::string text = files::read_text_file(file_);
  std::string more;
  for (int i = 0; i < 100'000; ++i) more += fmt::format("\"{:06}\": \"fast\",", i);
  text.insert(text.find('{', text.find("\"choices\"")) + 1, more);
  files::write_file(file_, text);
  RememberedChoices choices(file_);
  const auto refuse = [](const std::string&) { return false; };
  const auto never = []() -> std::string { throw Error(Errc::Internal, "measured"); };
  const auto known = [](const std::string& name) { return name == "fast"; };
  for (int i = 0; i < 10'000; ++i) {
    EXPECT_EQ(choices.choose(fmt::format("{:06}", i), known, never, {}), "fast");
  }
  EXPECT_THROW(choices.choose("099999", refuse, never, {}), Error) << "not valid";
  EXPECT_EQ(choices.problem(), "");
}

TEST_F(MeasuredChoice, SeesChoicesOfAnotherProcess) {
  RememberedChoices first(file_), second(file_);
  const auto known = [](const std::string& name) { return name == "fast"; };
  const auto fast = []() -> std::string { return "fast"; };
  const auto never = []() -> std::string { throw Error(Errc::Internal, "measured"); };
  EXPECT_EQ(first.choose("a", known, fast, {}), "fast");
  EXPECT_EQ(second.choose("b", known, fast, {}), "fast");
  EXPECT_EQ(first.choose("b", known, never, {}), "fast");
  EXPECT_EQ(second.choose("a", known, never, {}), "fast");
}

TEST_F(MeasuredChoice, IsMeasuredAgainIfTheFileIsOversized) {
  std::filesystem::create_directories(file_.parent_path());
  files::write_file(file_, std::string(5 << 20, ' '));
  EXPECT_EQ(choose_again(), "fast");
  EXPECT_NE(problem_.find("5.00 MiB"), std::string::npos) << problem_;
  EXPECT_EQ(choose_again(), "fast");
  EXPECT_EQ(problem_, "");
  EXPECT_EQ(timings_.measurements, 1);
}

// Opening a pipe without a peer would block, for reading and for writing.
TEST_F(MeasuredChoice, DoesNotReadAPipe) {
  std::filesystem::create_directories(file_.parent_path());
  ASSERT_EQ(::mkfifo(file_.c_str(), 0600), 0);
  EXPECT_EQ(choose_again(), "fast");
  EXPECT_NE(problem_.find("it is a pipe, not a regular file"), std::string::npos) << problem_;
  EXPECT_TRUE(std::filesystem::is_fifo(file_));
}

// A file occupies the folder's path, so no user can write there.
TEST_F(MeasuredChoice, IsKeptInTheProcessIfTheFileCannotBeWritten) {
  files::write_file(folder_.path() / "below", std::string_view("not a folder"));
  RememberedChoices choices(file_);
  MeasuredChooser chooser(choices, timings_.options());
  EXPECT_STREQ(chooser.choose(some_case(), pool_).name(), "fast");
  EXPECT_STREQ(MeasuredChooser(choices, timings_.options()).choose(some_case(), pool_).name(),
               "fast");
  EXPECT_EQ(timings_.measurements, 1);
  EXPECT_NE(choices.problem().find("below"), std::string::npos) << choices.problem();
}

TEST_F(MeasuredChoice, WorksWithoutAFile) {
  RememberedChoices choices({});
  EXPECT_STREQ(MeasuredChooser(choices, timings_.options()).choose(some_case(), pool_).name(),
               "fast");
  EXPECT_EQ(choices.problem(), "");
}

TEST_F(MeasuredChoice, IsMeasuredByOneOfSeveralThreads) {
  RememberedChoices choices(file_);
  MeasuredChooserOptions options = timings_.options();
  options.measuring = [](const ConvolutionCase&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  };
  MeasuredChooser chooser(choices, options);
  std::vector<const char*> names(4);
  {
    std::vector<std::jthread> devices;
    devices.reserve(names.size());
    for (const char*& name : names) {
      devices.emplace_back([&] {
        ThreadPool pool({0});
        name = chooser.choose(some_case(), pool).name();
      });
    }
  }
  for (const char* name : names) EXPECT_STREQ(name, "fast");
  EXPECT_EQ(timings_.measurements, 1);
}

// The second process would measure the other algorithm as faster, but adopts the first one's
// choice.
TEST_F(MeasuredChoice, IsMeasuredByOneOfSeveralProcesses) {
  int started[2];
  ASSERT_EQ(::pipe(started), 0);
  const pid_t first = ::fork();
  ASSERT_GE(first, 0);
  if (first == 0) {
    RememberedChoices choices(file_);
    MeasuredChooserOptions options = timings_.options();
    options.measuring = [&](const ConvolutionCase&) {
      static_cast<void>(!::write(started[1], "x", 1));
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    };
    const std::string name = MeasuredChooser(choices, options).choose(some_case(), pool_).name();
    ::_exit(name == "fast" ? 0 : 1);
  }
  char byte = 0;
  ASSERT_EQ(::read(started[0], &byte, 1), 1);
  timings_.seconds = {1, 2};
  EXPECT_EQ(choose_again(), "fast");
  EXPECT_EQ(timings_.measurements, 0);
  int status = 0;
  ASSERT_EQ(::waitpid(first, &status, 0), first);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  ::close(started[0]);
  ::close(started[1]);
}

TEST_F(MeasuredChoice, CanBeCancelled) {
  RememberedChoices choices(file_);
  std::stop_source source;
  MeasuredChooserOptions options = timings_.options();
  options.stop = source.get_token();
  options.measuring = [&](const ConvolutionCase&) { source.request_stop(); };
  MeasuredChooser chooser(choices, options);
  test::message_of([&] { chooser.choose(some_case(), pool_); }, Errc::Cancelled);
  test::message_of([&] { chooser.choose(some_case(), pool_); }, Errc::Cancelled);
  EXPECT_EQ(timings_.measurements, 1);
  EXPECT_EQ(choose_again(), "fast") << "a cancelled measurement is not stored";
  EXPECT_EQ(timings_.measurements, 2);
}

TEST(Race, TimesEachAlgorithm) {
  ThreadPool pool({0, 1});
  for (const auto stage : {ConvolutionStage::Forward, ConvolutionStage::InputGradient,
                           ConvolutionStage::WeightGradient}) {
    const ConvolutionCase c{
        .shape = simd::conv_shape(6, 6, 16, 16, 3, 1, 1), .stage = stage, .batch = 4, .threads = 2};
    const auto eligible = candidates(c);
    ASSERT_GE(eligible.size(), 2U);
    for (const double seconds : time_algorithms(eligible, c, pool, {})) {
      EXPECT_GT(seconds, 0);
      EXPECT_TRUE(std::isfinite(seconds));
    }
  }
}

TEST(NamedChooser, UsesTheNamedAlgorithmIfSupported) {
  ThreadPool pool({0});
  ConvolutionCase c{.shape = simd::conv_shape(8, 8, 16, 16, 3, 1, 1), .batch = 4, .threads = 1};
  for (const ConvolutionAlgorithm* algorithm : lab_convolutions()) {
    if (algorithm == &lane_winograd_convolution()) continue;  // has the name of another one
    const auto& want = algorithm->supports(c) ? *algorithm : gemm_convolution();
    EXPECT_EQ(&NamedChooser(algorithm->name()).choose(c, pool), &want) << algorithm->name();
  }
  EXPECT_STREQ(NamedChooser("winograd4").choose(c, pool).name(), "winograd4");
  c.shape = simd::conv_shape(8, 8, 16, 16, 5, 2, 2);
  EXPECT_STREQ(NamedChooser("winograd2").choose(c, pool).name(), "gemm");
}

TEST(NamedChooser, ChoosesBetweenAlgorithmsOfTheSameNameByTheKernel) {
  ThreadPool pool({0});
  NamedChooser winograd2("winograd2");
  ConvolutionCase c{.shape = simd::conv_shape(8, 8, 16, 16, 3, 1, 1), .batch = 16, .threads = 1};
  EXPECT_EQ(&winograd2.choose(c, pool), &winograd2_convolution());
  c.shape = simd::conv_shape(8, 8, 16, 16, 5, 1, 2);
  EXPECT_EQ(&winograd2.choose(c, pool), &lane_winograd_convolution());
}

TEST(NamedChooser, UnknownNameListsTheChoices) {
  const std::string what = test::message_of([] { NamedChooser("fft"); }, Errc::NotFound);
  EXPECT_NE(what.find("'fft'; choose one of gemm, "), std::string::npos) << what;
}

}  // namespace
}  // namespace lab
