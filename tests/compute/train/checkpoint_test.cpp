#include "compute/train/checkpoint.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <random>
#include <set>

#include "compute/core/files/whole_file.h"
#include "compute/nn/state_dict.h"
#include "compute/tensor/random.h"
#include "tests/support/errors.h"
#include "tests/support/file_size_limit.h"
#include "tests/support/temp_dir.h"
#include "tests/support/text.h"
#include "tests/support/thread_sanitizer.h"

namespace lab {
namespace {

namespace fs = std::filesystem;

// A convolution in the lab's own layout, a batch norm with running statistics, a linear layer.
nn::NetworkPlan small_plan() {
  nn::NetworkPlan plan("small", {1, 6, 6}, nn::WeightInit::FanInUniform);
  const auto conv = plan.declare_convolution("conv", 1, 3, 3);
  const auto norm = plan.declare_batch_norm("norm", 3);
  const auto linear = plan.declare_linear("fc", 3, 10);
  auto x = plan.convolution(plan.input(), conv, {.stride = 1, .padding = 1});
  x = plan.batch_norm(x, norm, true);
  plan.linear(plan.flatten(plan.global_average_pool(x)), linear);
  return plan;
}

// A small training without data sets, with deterministic values.
struct Training {
  explicit Training(double momentum = 0.9, std::uint64_t seed = 0)
      : network(small_plan(), machine.at(cpu()), 4, seed), sgd(network, {.momentum = momentum}) {
    request.lr = 0.1;
    request.momentum = momentum;
    request.devices = {cpu()};
  }

  void step() {
    const RandomStream random{7, static_cast<std::uint64_t>(position.steps)};
    for (std::uint64_t i = 0; i < 4 * 36; ++i) {
      network.input()[i] = static_cast<float>(random.below(i, 255)) / 255.0F;
    }
    for (std::uint64_t i = 0; i < 4; ++i) {
      network.labels()[i] = static_cast<std::uint8_t>(random.below(1000 + i, 10));
    }
    network.forward(4, true, {});
    position.loss_sum += network.loss(4, 4.0).loss_sum;
    network.backward(4, {});
    sgd.step(0.1);
    ++position.steps;
    ++position.step_in_epoch;
    position.images += 4;
  }

  fs::path save(const fs::path& folder) {
    return save_checkpoint(folder, request, position, network, sgd);
  }
  void load(const fs::path& folder) {
    position = load_checkpoint(folder, request, network, sgd).position;
  }

  // Serialises all state that determines how the training continues.
  std::string state() {
    std::string bytes;
    const auto add = [&](const void* data, std::size_t n) {
      bytes.append(static_cast<const char*>(data), n);
    };
    add(network.flat_parameters().data(), network.flat_parameters().size_bytes());
    add(sgd.velocity().data(), sgd.velocity().size_bytes());
    for (const nn::RunningStatistics& running : network.running()) {
      add(running.mean.data(), running.mean.size() * sizeof(float));
      add(running.variance.data(), running.variance.size() * sizeof(float));
      add(&running.batches, sizeof running.batches);
    }
    bytes += sgd.started() ? "started" : "new";
    add(&position, sizeof position);
    return bytes;
  }

  Machine machine;
  nn::Network network;
  nn::Sgd sgd;
  StartTraining request;
  TrainingPosition position;
};

std::set<std::string> names_in(const fs::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    names.insert(entry.path().filename().string());
  }
  return names;
}

using test::contains;

TEST(Checkpoint, RestoresEverythingBitForBit) {
  const test::TempDir dir;
  Training first;
  for (int i = 0; i < 3; ++i) first.step();
  first.position.epoch = 2;
  first.position.step_in_epoch = 1;
  first.position.epoch_seconds = 0.1 + 0.2;
  first.position.correct = 5;
  EXPECT_EQ(first.save(dir.path()), dir.path() / "step-00000003");
  EXPECT_EQ(names_in(dir.path() / "step-00000003"),
            (std::set<std::string>{"model.safetensors", "optimizer.safetensors", "run.json"}));

  Training second(0.9, /*seed=*/5);
  ASSERT_NE(second.state(), first.state());
  second.load(dir.path());
  EXPECT_EQ(second.state(), first.state());
  for (int i = 0; i < 3; ++i) first.step(), second.step();
  EXPECT_EQ(second.state(), first.state());
}

TEST(Checkpoint, HasNoOptimizerFileWithoutMomentum) {
  const test::TempDir dir;
  Training first(0);
  first.step();
  EXPECT_EQ(names_in(first.save(dir.path())),
            (std::set<std::string>{"model.safetensors", "run.json"}));
  Training second(0, 5);
  second.load(dir.path());
  EXPECT_EQ(second.state(), first.state());
}

TEST(Checkpoint, HasNoVelocityBeforeTheFirstStep) {
  const test::TempDir dir;
  Training first;
  first.save(dir.path());
  Training second;
  second.step();
  second.load(dir.path());
  EXPECT_FALSE(second.sgd.started());
  first.step(), second.step();
  EXPECT_EQ(second.state(), first.state());
}

TEST(Checkpoint, ModelFileMatchesSave) {
  const test::TempDir dir;
  Training training;
  training.step();
  const fs::path folder = training.save(dir.path());
  nn::save_network(training.network, dir.path() / "saved");
  EXPECT_EQ(files::read_file(folder / "model.safetensors"), files::read_file(dir.path() / "saved"));
  Training other(0.9, 5);
  nn::load_network(other.network, folder / "model.safetensors");
}

TEST(Checkpoint, KeepsTheNewestTwoAndOtherFiles) {
  const test::TempDir dir;
  files::write_file(dir.path() / "step-notes.txt", "mine");
  fs::create_directory(dir.path() / "step-00000000");  // an incomplete checkpoint
  Training later;
  later.position.steps = 100'000'000;
  later.save(dir.path());
  Training training;
  for (int i = 0; i < 4; ++i) {
    training.step();
    training.save(dir.path());
  }
  EXPECT_EQ(names_in(dir.path()),
            (std::set<std::string>{"step-notes.txt", "step-00000000", "step-00000003",
                                   "step-00000004", "step-100000000"}));
}

TEST(Checkpoint, RemovesLeftoversOfAKilledRun) {
  const test::TempDir dir;
  fs::create_directories(dir.path() / "step-00000007.12345-0.part" / "x");
  fs::create_directories(dir.path() / "other.12345-0.part");
  Training training;
  training.save(dir.path());
  EXPECT_EQ(names_in(dir.path()), (std::set<std::string>{"step-00000000", "other.12345-0.part"}));
}

TEST(Checkpoint, ReplacesOneOfTheSameStep) {
  const test::TempDir dir;
  Training first, second(0.9, 5);
  first.step(), second.step();
  first.save(dir.path());
  second.save(dir.path());
  EXPECT_EQ(names_in(dir.path()), (std::set<std::string>{"step-00000001"}));
  Training third;
  third.load(dir.path());
  EXPECT_EQ(third.state(), second.state());
}

TEST(Checkpoint, LoadsTheNewestCompleteOneOrTheNamedOne) {
  const test::TempDir dir;
  Training training;
  training.step();
  const fs::path one = training.save(dir.path());
  training.step();
  const fs::path two = training.save(dir.path());
  Training other;
  other.load(dir.path());
  EXPECT_EQ(other.position.steps, 2);
  other.load(one);
  EXPECT_EQ(other.position.steps, 1);
  fs::remove(two / "run.json");
  other.load(dir.path());
  EXPECT_EQ(other.position.steps, 1);
}

TEST(Checkpoint, ReportsAMissingCheckpoint) {
  const test::TempDir dir;
  Training training;
  const std::string empty = test::message_of([&] { training.load(dir.path()); }, Errc::NotFound);
  EXPECT_EQ(empty, dir.path().string() +
                       " contains no complete checkpoint; check the path, or start over without "
                       "--resume");
  const std::string missing =
      test::message_of([&] { training.load(dir.path() / "none"); }, Errc::NotFound);
  EXPECT_TRUE(contains(missing, "none is not a folder of checkpoints")) << missing;
}

TEST(Checkpoint, RejectsDifferentSettings) {
  const test::TempDir dir;
  Training first;
  first.step();
  first.save(dir.path());
  Training second(0.9, 5);
  second.request.batch = 128;
  const std::string before = second.state();
  const std::string message =
      test::message_of([&] { second.load(dir.path()); }, Errc::InvalidArgument);
  EXPECT_TRUE(contains(message, "--batch 256 / --batch 128")) << message;
  EXPECT_TRUE(contains(message, "step-00000001")) << message;
  EXPECT_EQ(second.state(), before);
}

TEST(Checkpoint, AllowsOtherDevicesAndLengths) {
  const test::TempDir dir;
  Training first;
  first.step();
  first.save(dir.path());
  Training second(0.9, 5);
  second.request.devices = {cpu(0), cpu(1)};
  second.request.share_policy = SharePolicy::Auto;
  second.request.epochs = 99;
  second.request.steps = 7;
  second.request.kernels = Kernels::Library;
  second.load(dir.path());
  EXPECT_EQ(second.state(), first.state());
}

TEST(Checkpoint, NamesAMissingOrDamagedFile) {
  const test::TempDir dir;
  Training training;
  training.step();
  for (const char* name : {"model.safetensors", "optimizer.safetensors"}) {
    const fs::path file = training.save(dir.path()) / name;
    const std::string before = training.state();
    std::vector<std::uint8_t> bytes = files::read_file(file);
    bytes.back() ^= 1U;
    files::write_file(file, std::as_bytes(std::span(bytes)));
    const auto load = [&] { training.load(dir.path()); };
    std::string message = test::message_of(load, Errc::Corrupt);
    EXPECT_TRUE(contains(message, file.string() + ": it was altered")) << message;
    fs::resize_file(file, 20);
    message = test::message_of(load, Errc::Corrupt);
    EXPECT_TRUE(contains(message, file.string() + ": it has 20 bytes, not")) << message;
    fs::remove(file);
    message = test::message_of(load, Errc::Corrupt);
    EXPECT_TRUE(contains(message, file.string())) << message;
    EXPECT_TRUE(contains(message, "remove its folder")) << message;
    EXPECT_EQ(training.state(), before);
  }
}

TEST(Checkpoint, RejectsALaterFormat) {
  const test::TempDir dir;
  Training training;
  const fs::path file = training.save(dir.path()) / "run.json";
  std::string text = files::read_text_file(file);
  const std::string format = "\"format\": 1";
  text.replace(text.find(format), format.size(), "\"format\": 2");
  files::write_file(file, text);
  const std::string message =
      test::message_of([&] { training.load(dir.path()); }, Errc::Unsupported);
  EXPECT_EQ(message, file.string() + ": it has format 2, but this version reads format 1");
}

std::string altered(std::string text, std::mt19937& random) {
  const std::size_t at = random() % text.size();
  switch (random() % 4) {
    case 0: text[at] = static_cast<char>(random()); break;
    case 1: text.erase(at, 1 + random() % 9); break;
    case 2: text.insert(at, 1 + random() % 3, "[]{}\",:0919"[random() % 11]); break;
    default: text.resize(at); break;
  }
  return text;
}

// Any alteration of any file is either rejected without side effects or has no effect.
TEST(Checkpoint, SurvivesAlteredFiles) {
  SKIP_UNDER_THREAD_SANITIZER();
  const test::TempDir dir;
  Training saved;
  saved.step();
  const fs::path folder = saved.save(dir.path());
  const std::string whole = saved.state();
  auto target = std::make_unique<Training>(0.9, 5);
  const std::string before = target->state();
  std::mt19937 random(1);
  for (int round = 0; round < 600; ++round) {
    const char* const names[] = {"model.safetensors", "optimizer.safetensors", "run.json"};
    const fs::path file = folder / names[random() % 3];
    const std::string original = files::read_text_file(file);
    std::ofstream(file, std::ios::binary) << altered(original, random);
    try {
      target->load(dir.path());
      EXPECT_EQ(target->state(), whole) << file << " in round " << round;
      target = std::make_unique<Training>(0.9, 5);
    } catch (const Error& error) {
      EXPECT_EQ(target->state(), before) << error.what();
      EXPECT_TRUE(contains(error.what(), file.string())) << error.what();
    }
    std::ofstream(file, std::ios::binary) << original;
  }
}

TEST(Checkpoint, FullDiskKeepsTheOlderOnes) {
  const test::TempDir dir;
  Training training;
  training.step();
  training.save(dir.path());
  const std::string saved = training.state();
  training.step();
  training.save(dir.path());
  training.step();
  {
    const test::FileSizeLimit limit(200);
    const std::string message = test::message_of([&] { training.save(dir.path()); }, Errc::Io);
    EXPECT_TRUE(contains(message, "cannot write " + (dir.path() / "step-00000003").string()))
        << message;
    EXPECT_TRUE(contains(message, "model.safetensors: File too large")) << message;
  }
  EXPECT_EQ(names_in(dir.path()), (std::set<std::string>{"step-00000001", "step-00000002"}));
}

TEST(Checkpoint, ReportsAnInvalidFolderBeforeTraining) {
  const test::TempDir dir;
  const fs::path made = dir.path() / "a" / "b";
  check_checkpoint_folder(made);
  EXPECT_TRUE(fs::is_directory(made));
  EXPECT_TRUE(names_in(made).empty());
  const fs::path file = dir.path() / "file";
  files::write_file(file, "kept");
  EXPECT_EQ(test::message_of([&] { check_checkpoint_folder(file); }, Errc::Io),
            "cannot write " + file.string() + ": Not a directory: choose another path");
}

TEST(Checkpoint, RejectsAReadOnlyFolder) {
  if (::geteuid() == 0) GTEST_SKIP() << "root can write to any folder";
  const test::TempDir dir;
  fs::permissions(dir.path(), fs::perms::owner_read | fs::perms::owner_exec);
  test::message_of([&] { check_checkpoint_folder(dir.path()); }, Errc::Io);
  fs::permissions(dir.path(), fs::perms::owner_all);
}

}  // namespace
}  // namespace lab
