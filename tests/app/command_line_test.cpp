#include "app/cli/command_line.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "compute/core/error.h"
#include "compute/core/events/training_preset.h"
#include "compute/core/units.h"
#include "tests/support/text.h"

namespace lab::app {
namespace {

Invocation parse(const std::vector<const char*>& args) {
  return parse_command_line(args);
}

template <typename Request>
Request job(const std::vector<const char*>& args) {
  return std::get<Request>(std::get<JobOptions>(parse(args)).command);
}

// Returns the message of the error that parsing throws with `code`, or a description of the
// mismatch.
std::string command_line_error(const std::vector<const char*>& args, Errc code = Errc::Usage) {
  try {
    parse(args);
  } catch (const Error& e) {
    return e.code() == code ? e.what() : std::string("other code: ") + e.what();
  }
  return "no error";
}

using test::contains;

TEST(CommandLine, OpensTheWindowWithoutArguments) {
  const auto window = std::get<WindowOptions>(parse({}));
  EXPECT_FALSE(window.cpu_devices) << "the saved value applies";
  EXPECT_FALSE(window.scale);
  EXPECT_TRUE(window.screenshot.empty());
}

TEST(CommandLine, ReadsWindowOptions) {
  const auto window = std::get<WindowOptions>(
      parse({"--scale", "1.5", "--theme", "light", "--page", "matmul", "--size", "1920x1080",
             "--screenshot", "a.png", "--frames", "3", "--cpu-devices", "2", "--wake-gpus",
             "--reference", "b.json"}));
  EXPECT_FLOAT_EQ(window.scale.value(), 1.5F);
  EXPECT_EQ(window.theme, "light");
  EXPECT_EQ(window.page, "matmul");
  EXPECT_EQ(window.width, 1920);
  EXPECT_EQ(window.height, 1080);
  EXPECT_EQ(window.screenshot, "a.png");
  EXPECT_EQ(window.reference, "b.json");
  EXPECT_EQ(window.frames, 3);
  EXPECT_EQ(window.cpu_devices, 2);
  EXPECT_TRUE(window.wake_gpus);
}

TEST(CommandLine, ReadsDevices) {
  const auto devices = std::get<DevicesOptions>(parse({"devices", "--json", "--watch", "0.5"}));
  EXPECT_TRUE(devices.json);
  EXPECT_EQ(devices.watch_s, 0.5);
}

TEST(CommandLine, ReadsMatmul) {
  const auto r = job<StartMatmul>({"matmul", "--sizes=64..256", "--devices", "cpu:0,cpu:1",
                                   "--cpu-devices", "2", "--kernels", "best", "--cache", "cold",
                                   "--budget", "0.1", "--seed", "7", "--dtype", "bf16"});
  EXPECT_EQ(r.sizes, (std::vector<std::int64_t>{64, 128, 256}));
  EXPECT_EQ(r.devices, (std::vector<Device>{cpu(0), cpu(1)}));
  EXPECT_EQ(r.kernels, std::vector<std::string>{"best"});
  EXPECT_EQ(r.cache, CacheState::Cold);
  EXPECT_EQ(r.budget_s, 0.1);
  EXPECT_EQ(r.seed, 7U);
  EXPECT_EQ(r.dtype, Precision::BF16);
}

TEST(CommandLine, ReadsTransfer) {
  const auto r =
      job<StartTransfers>({"transfer", "--from", "cpu:0", "--to", "cpu", "--memory", "both",
                           "--ops", "copy,triad", "--threads", "one", "--sizes", "1KiB..4KiB"});
  EXPECT_EQ(r.from, std::vector<Device>{cpu()});
  EXPECT_EQ(r.memory, (std::vector<MemoryKind>{MemoryKind::Pageable, MemoryKind::Pinned}));
  EXPECT_EQ(r.ops, (std::vector<TransferOp>{TransferOp::Copy, TransferOp::Triad}));
  EXPECT_TRUE(r.one_thread);
  EXPECT_FALSE(r.all_threads);
  EXPECT_EQ(r.sizes_bytes, (std::vector<std::int64_t>{kKiB, 2 * kKiB, 4 * kKiB}));
  EXPECT_FALSE(r.quick);
  EXPECT_TRUE(job<StartTransfers>({"transfer", "--quick"}).quick);
}

TEST(CommandLine, ReadsLesson) {
  const auto one = std::get<LessonOptions>(
      parse({"lesson", "link", "--guess", "1 us, 2 us, 3 us", "--devices", "cpu:0,cpu:1"}));
  ASSERT_EQ(one.lessons.size(), 1U);
  EXPECT_EQ(one.lessons[0].lesson, "link");
  EXPECT_EQ(one.lessons[0].guess, "1 us, 2 us, 3 us");
  EXPECT_EQ(one.lessons[0].devices, (std::vector<Device>{cpu(0), cpu(1)}));
  const auto varied = std::get<LessonOptions>(parse({"lesson", "tensors", "--vary", "512"}));
  EXPECT_EQ(varied.lessons.at(0).vary, 512);
  EXPECT_TRUE(std::get<LessonOptions>(parse({"lesson"})).lessons.empty()) << "lists them";
  const auto all = std::get<LessonOptions>(parse({"lesson", "all", "--json"}));
  EXPECT_TRUE(all.all && all.json);
  EXPECT_GE(all.lessons.size(), 9U);
}

TEST(CommandLine, ReadsTheFilesOfAClass) {
  const auto options =
      std::get<LessonOptions>(parse({"lesson", "link", "--class", "a.json", "b.json"}));
  ASSERT_TRUE(options.compare.has_value());
  EXPECT_EQ(options.compare->lesson, "link");
  EXPECT_EQ(options.compare->files, (std::vector<std::string>{"a.json", "b.json"}));
  EXPECT_TRUE(
      contains(command_line_error({"lesson", "all", "--class", "a.json"}), "single lesson"));
  const auto saved =
      std::get<LessonOptions>(parse({"lesson", "network", "--save", "n.safetensors"}));
  EXPECT_EQ(saved.lessons.at(0).save_file, "n.safetensors");
}

TEST(CommandLine, RejectsLessonsThatItDoesNotKnow) {
  EXPECT_TRUE(contains(command_line_error({"lesson", "lnik"}), "did you mean 'link'?"));
  EXPECT_TRUE(contains(command_line_error({"lesson", "all", "--guess", "1"}), "a single lesson"));
  EXPECT_TRUE(contains(command_line_error({"lesson", "link", "--vary", "x"}),
                       "--vary: 'x' is not a number"));
  EXPECT_TRUE(
      contains(command_line_error({"lesson", "link", "--devices", "tpu"}), "unknown device 'tpu'"));
}

TEST(CommandLine, TrainingDefaultsMatchTheBook) {
  const auto r = job<StartTraining>({"train"});
  EXPECT_EQ(r.model, "lenet");
  EXPECT_EQ(r.data, DataSource::Synthetic);
  EXPECT_EQ(r.batch, 256);
  EXPECT_EQ(r.epochs, 10);
  EXPECT_EQ(r.momentum, 0);
  EXPECT_FALSE(r.lr);
  EXPECT_TRUE(r.evaluate);
}

TEST(CommandLine, ReadsTrain) {
  const auto r = job<StartTraining>({"train",
                                     "--model",
                                     "mlp",
                                     "--batch",
                                     "64",
                                     "--lr",
                                     "0.05",
                                     "--momentum",
                                     "0.9",
                                     "--weight-decay",
                                     "1e-4",
                                     "--epochs",
                                     "2",
                                     "--steps",
                                     "9",
                                     "--order",
                                     "sequential",
                                     "--seed",
                                     "18446744073709551615",
                                     "--kernels",
                                     "library",
                                     "--init",
                                     "a",
                                     "--save",
                                     "b",
                                     "--no-eval",
                                     "--shares",
                                     "1",
                                     "--synthetic-train",
                                     "100",
                                     "--synthetic-test",
                                     "50"});
  EXPECT_EQ(r.model, "mlp");
  EXPECT_EQ(r.batch, 64);
  EXPECT_EQ(r.lr, 0.05);
  EXPECT_EQ(r.momentum, 0.9);
  EXPECT_EQ(r.weight_decay, 1e-4);
  EXPECT_EQ(r.steps, 9);
  EXPECT_EQ(r.order, BatchOrder::Sequential);
  EXPECT_EQ(r.seed, 18446744073709551615U);
  EXPECT_EQ(r.kernels, Kernels::Library);
  EXPECT_EQ(r.init_file, "a");
  EXPECT_EQ(r.save_file, "b");
  EXPECT_FALSE(r.evaluate);
  EXPECT_EQ(r.synthetic_train, 100);
  EXPECT_EQ(r.synthetic_test, 50);
}

TEST(CommandLine, ReadsTheRecipe) {
  const auto r =
      job<StartTraining>({"train", "--schedule", "linear", "--label-smoothing", "0.2", "--augment",
                          "flip", "--first-layer", "whitened", "--stop-at", "0.91"});
  EXPECT_EQ(r.schedule, LrSchedule::Linear);
  EXPECT_EQ(r.label_smoothing, 0.2);
  EXPECT_EQ(r.augment, Augmentation::Flip);
  EXPECT_EQ(r.first_layer, FirstLayer::Whitened);
  EXPECT_EQ(r.stop_at, 0.91);
  EXPECT_TRUE(contains(command_line_error({"train", "--augment", "crop"}), "--augment: 'crop'"));
  EXPECT_TRUE(
      contains(command_line_error({"train", "--label-smoothing", "1"}), "--label-smoothing: "));
  EXPECT_TRUE(contains(command_line_error({"train", "--stop-at", "91"}), "--stop-at: "));
}

TEST(CommandLine, OptionsOverrideThePreset) {
  const auto fast = job<StartTraining>({"train", "--preset", "fast"});
  EXPECT_TRUE(follows_preset(TrainingPreset::Fast, fast));
  EXPECT_EQ(fast.model, "convnet");
  EXPECT_EQ(fast.schedule, LrSchedule::Linear);
  EXPECT_EQ(fast.data, DataSource::Synthetic) << "no matter of the preset";
  const auto longer = job<StartTraining>({"train", "--epochs", "12", "--preset", "fast"});
  EXPECT_EQ(longer.epochs, 12) << "in any order";
  EXPECT_EQ(longer.model, "convnet");
  const auto accurate = job<StartTraining>({"train", "--preset", "accurate", "--seed", "1"});
  EXPECT_TRUE(follows_preset(TrainingPreset::Accurate, accurate));
  EXPECT_EQ(accurate.model, "resnet18");
  EXPECT_EQ(accurate.augment, Augmentation::Flip);
  const auto book = job<StartTraining>({"train", "--preset", "book", "--model", "resnet18"});
  EXPECT_EQ(book.model, "resnet18");
  EXPECT_FALSE(book.lr) << "that of the model";
  EXPECT_TRUE(contains(command_line_error({"train", "--preset", "slow"}), "--preset: 'slow'"));
}

TEST(CommandLine, ReadsConvolution) {
  EXPECT_EQ(job<StartTraining>({"train"}).convolution, "auto");
  EXPECT_EQ(job<StartTraining>({"train", "--convolution", "winograd2"}).convolution, "winograd2");
}

// The devices, which are not known here, decide whether it can be computed.
TEST(CommandLine, TrainAcceptsEveryPrecision) {
  for (const Precision precision : {Precision::F32, Precision::TF32, Precision::BF16}) {
    EXPECT_EQ(job<StartTraining>({"train", "--dtype", to_string(precision)}).dtype, precision);
  }
}

TEST(CommandLine, BothKernelsImplyAProfile) {
  const auto plain = job<StartTraining>({"train"});
  EXPECT_FALSE(plain.profile);
  EXPECT_FALSE(plain.compare_kernels);
  const auto profiled = job<StartTraining>({"train", "--profile", "--kernels", "library"});
  EXPECT_TRUE(profiled.profile);
  EXPECT_FALSE(profiled.compare_kernels);
  EXPECT_EQ(profiled.kernels, Kernels::Library);
  const auto both = job<StartTraining>({"train", "--kernels", "both"});
  EXPECT_TRUE(both.profile);
  EXPECT_TRUE(both.compare_kernels);
  EXPECT_EQ(both.kernels, Kernels::Lab);
  const auto last = job<StartTraining>({"train", "--kernels", "both", "--kernels", "lab"});
  EXPECT_FALSE(last.compare_kernels) << "the last one wins";
  EXPECT_TRUE(contains(command_line_error({"train", "--kernels", "neither"}), "both"));
}

TEST(CommandLine, ReadsTrainOnSeveralDevices) {
  const auto r = job<StartTraining>({"train",       "--cpu-devices", "2",      "--devices",
                                     "cpu:0,cpu:1", "--shares",      "70,30",  "--width",
                                     "16",          "--bucket-mib",  "0.5",    "--sum",
                                     "nccl",        "--lr-scale",    "linear", "--warmup-epochs",
                                     "1.5",         "--checkpoint",  "c",      "--every",
                                     "100",         "--resume",      "d"});
  EXPECT_EQ(r.devices, (std::vector<Device>{cpu(0), cpu(1)}));
  EXPECT_EQ(r.share_policy, SharePolicy::Listed);
  EXPECT_EQ(r.shares, (std::vector<double>{70, 30}));
  EXPECT_EQ(r.width, 16);
  EXPECT_EQ(r.bucket_bytes, 512 * kKiB);
  EXPECT_EQ(r.sum, GradientSum::Nccl);
  EXPECT_EQ(r.lr_scale, LrScale::Linear);
  EXPECT_EQ(r.warmup_epochs, 1.5);
  EXPECT_EQ(r.checkpoint_dir, "c");
  EXPECT_EQ(r.checkpoint_every, 100);
  EXPECT_EQ(r.resume_dir, "d");
}

TEST(CommandLine, DefaultsToEqualShares) {
  const auto plain = job<StartTraining>({"train"});
  EXPECT_EQ(plain.share_policy, SharePolicy::Equal);
  EXPECT_EQ(plain.bucket_bytes, 25 * 1024 * kKiB);
  EXPECT_EQ(plain.sum, GradientSum::Auto);
  EXPECT_EQ(plain.lr_scale, LrScale::None);
  EXPECT_EQ(plain.warmup_epochs, 0);
  EXPECT_EQ(plain.checkpoint_every, 0);
  EXPECT_EQ(job<StartTraining>({"train", "--shares", "auto"}).share_policy, SharePolicy::Auto);
  EXPECT_EQ(job<StartTraining>({"train", "--shares", "equal"}).share_policy, SharePolicy::Equal);
}

TEST(CommandLine, RejectsInvalidShares) {
  const auto two = [](const char* shares) {
    return command_line_error(
        {"train", "--cpu-devices", "2", "--devices", "cpu:0,cpu:1", "--shares", shares});
  };
  EXPECT_TRUE(contains(two("autto"), "--shares: 'autto' is unknown; did you mean 'auto'?"));
  EXPECT_TRUE(contains(two("1"), "--shares: 1 share (1) for 2 devices"));
  EXPECT_TRUE(contains(two("0.7,0.4"), "sum to 1.1"));
  EXPECT_TRUE(contains(two("0,0"), "leave every device without images"));
  EXPECT_TRUE(contains(two("1,x"), "'x' is not a number"));
  EXPECT_TRUE(contains(two("1,-1"), "'-1' is not a number from 0"));
  EXPECT_EQ(two("0.7,0.3"), "no error");
}

TEST(CommandLine, RejectsContradictingFiles) {
  EXPECT_TRUE(contains(command_line_error({"train", "--every", "10"}), "add --checkpoint DIR"));
  EXPECT_TRUE(contains(command_line_error({"train", "--resume", "a", "--init", "b"}),
                       "--resume and --init"));
  EXPECT_TRUE(
      contains(command_line_error({"train", "--checkpiont", "a"}), "did you mean --checkpoint?"));
}

TEST(CommandLine, DataDirectoryImpliesFashionMnist) {
  EXPECT_EQ(job<StartTraining>({"train", "--data-dir", "x"}).data, DataSource::FashionMnist);
  EXPECT_EQ(job<StartTraining>({"train", "--data-dir", "x", "--data", "synthetic"}).data,
            DataSource::Synthetic);
}

TEST(CommandLine, LastOfARepeatedOptionWins) {
  EXPECT_EQ(job<StartTraining>({"train", "--batch", "1", "--batch", "2"}).batch, 2);
}

TEST(CommandLine, ReadsDataTourVersionHelp) {
  const auto data = std::get<DataOptions>(parse({"data", "fetch", "--dir", "d", "--url", "u"}));
  EXPECT_EQ(data.action, DataAction::Fetch);
  EXPECT_EQ(data.dir, "d");
  EXPECT_EQ(data.url, "u");
  EXPECT_EQ(std::get<DataOptions>(parse({"data", "verify"})).action, DataAction::Verify);
  const auto tour = std::get<TourOptions>(
      parse({"tour", "--cpu-devices", "2", "--emulated-gpus", "1", "--json", "--seconds", "3"}));
  EXPECT_EQ(tour.cpu_devices, 2);
  EXPECT_EQ(tour.emulated_gpus, 1);
  EXPECT_TRUE(tour.json);
  EXPECT_EQ(tour.seconds, 3);
  EXPECT_EQ(std::get<TourOptions>(parse({"tour"})).seconds, StartTour{}.seconds);
  EXPECT_TRUE(std::holds_alternative<VersionOptions>(parse({"version"})));
  EXPECT_TRUE(contains(std::get<HelpOptions>(parse({"--help"})).text, "matmul"));
  EXPECT_TRUE(contains(std::get<HelpOptions>(parse({"train", "--help"})).text, "--weight-decay"));
}

TEST(CommandLine, SuggestsTheNearestName) {
  EXPECT_TRUE(contains(command_line_error({"matmull"}), "did you mean 'matmul'?"));
  EXPECT_TRUE(contains(command_line_error({"train", "--epoch", "3"}), "did you mean --epochs?"));
  EXPECT_TRUE(contains(command_line_error({"train", "--frobnicate"}), "--frobnicate"));
  EXPECT_TRUE(
      contains(command_line_error({"train", "--model", "lennet"}), "did you mean 'lenet'?"));
  EXPECT_TRUE(
      contains(command_line_error({"matmul", "--kernels", "best,nosuchkernel"}), "nosuchkernel"));
  EXPECT_TRUE(contains(command_line_error({"matmul", "--devices", "tpu:0"}), "tpu:0"));
  EXPECT_TRUE(contains(command_line_error({"matmul", "--devices", "cpu:3"}), "--cpu-devices 4"));
  EXPECT_TRUE(contains(command_line_error({"--page", "matmull"}), "did you mean 'matmul'?"));
  EXPECT_TRUE(contains(command_line_error({"data"}), "fetch"));
  EXPECT_TRUE(contains(command_line_error({"data", "check"}), "fetch, verify"));
}

TEST(CommandLine, RejectsValuesOutOfRange) {
  for (const auto& args :
       std::vector<std::vector<const char*>>{{"train", "--batch", "0"},
                                             {"train", "--batch", "12x"},
                                             {"train", "--batch", "99999999999999999999"},
                                             {"train", "--batch", ""},
                                             {"train", "--lr", "nan"},
                                             {"train", "--lr", "-1"},
                                             {"train", "--lr", "inf"},
                                             {"train", "--epochs", "-3"},
                                             {"train", "--seed", "-1"},
                                             {"train", "--shares", "0.5,0.5"},
                                             {"train", "--bucket-mib", "0"},
                                             {"train", "--bucket-mib", "1025"},
                                             {"train", "--lr-scale", "square"},
                                             {"train", "--warmup-epochs", "-1"},
                                             {"train", "--warmup-epochs", "inf"},
                                             {"train", "--every", "-1"},
                                             {"train", "--devices", "cpu:0,cpu:0"},
                                             {"train", "--cpu-devices", "0"},
                                             {"train", "--batch"},
                                             {"matmul", "--sizes", "0"},
                                             {"matmul", "--sizes", "64.."},
                                             {"matmul", "--dtype", "f64"},
                                             {"matmul", "--kernels", "naive,,"},
                                             {"transfer", "--sizes", "1XiB"},
                                             {"transfer", "--ops", "swap"},
                                             {"transfer", "--devices", "cpu", "--to", "cpu"},
                                             {"devices", "--watch", "0"},
                                             {"--scale", "3"},
                                             {"--size", "1280"},
                                             {"--size", "1x1"},
                                             {"--theme", "blue"},
                                             {"train", "extra"},
                                             {"--page", "log", "train"}}) {
    EXPECT_FALSE(contains(command_line_error(args), "other code")) << args[0];
    EXPECT_NE(command_line_error(args), "no error") << args[0] << " " << args[1];
    EXPECT_EQ(command_line_error(args).find('\n'), std::string::npos) << command_line_error(args);
  }
}

TEST(CommandLine, ReadsTheLanguageOfEveryCommand) {
  EXPECT_EQ(std::get<WindowOptions>(parse({"--language", "vi"})).language, Language::Vietnamese);
  EXPECT_FALSE(std::get<WindowOptions>(parse({})).language);
  for (const char* command : {"devices", "train", "matmul", "tour", "version"}) {
    EXPECT_NO_THROW(parse({command, "--language", "ja"})) << command;
  }
  EXPECT_NO_THROW(parse({"data", "verify", "--language=zh"}));
  EXPECT_TRUE(contains(command_line_error({"devices", "--language", "fr"}), "--language"));
  EXPECT_EQ(asked_language(std::vector<const char*>{"train", "--language", "ja"}),
            Language::Japanese);
  EXPECT_EQ(asked_language(std::vector<const char*>{"train", "--language=zh"}), Language::Chinese);
  EXPECT_EQ(asked_language(std::vector<const char*>{"train", "--language", "zh", "--json"}),
            Language::English);
}

TEST(CommandLine, RejectsEmptyValues) {
  for (const char* option : {"--save", "--init", "--resume", "--checkpoint", "--data-dir",
                             "--devices", "--shares", "--model", "--kernels", "--convolution"}) {
    const std::string message = command_line_error({"train", option, ""});
    EXPECT_TRUE(contains(message, std::string(option) + ": the value is empty; give ")) << message;
    const std::string joined = std::string(option) + "=";
    EXPECT_TRUE(contains(command_line_error({"train", joined.c_str()}), option)) << joined;
  }
  for (const char* command : {"fetch", "verify"}) {
    EXPECT_TRUE(
        contains(command_line_error({"data", command, "--dir", ""}), "--dir: the value is empty"));
  }
  EXPECT_TRUE(
      contains(command_line_error({"data", "fetch", "--url", ""}), "--url: the value is empty"));
  EXPECT_TRUE(
      contains(command_line_error({"scaling", "--reference", ""}), "--reference: the value is"));
  for (const char* option : {"--reference", "--screenshot", "--script", "--describe-ui"}) {
    EXPECT_TRUE(contains(command_line_error({option, ""}), "the value is empty; give FILE"))
        << option;
  }
}

TEST(CommandLine, ChecksTheRangesOfTheRequest) {
  EXPECT_TRUE(contains(command_line_error({"train", "--lr", "0"}), "'0' is not a number above 0"));
  EXPECT_TRUE(
      contains(command_line_error({"scaling", "--lr", "0"}), "'0' is not a number above 0"));
  EXPECT_TRUE(
      contains(command_line_error({"train", "--momentum", "1"}), "a number from 0 to below 1"));
  EXPECT_EQ(job<StartTraining>({"train", "--momentum", "0"}).momentum, 0);
  EXPECT_EQ(job<StartTraining>({"train", "--lr", "1e6"}).lr, 1e6);
  EXPECT_TRUE(contains(command_line_error({"train", "--batch", "16777217"}), "1 to 16777216"));
  EXPECT_TRUE(contains(command_line_error({"train", "--epochs", "1000001"}), "1 to 1000000"));
  const std::string help = std::get<HelpOptions>(parse({"train", "--help"})).text;
  EXPECT_TRUE(contains(help, "Learning rate, above 0")) << help;
  EXPECT_TRUE(contains(help, "from 0 to below 1")) << help;
}

TEST(CommandLine, RejectsAllCombinedWithOtherKernels) {
  for (const char* kernels : {"all,best", "best,all", "all,all"}) {
    const std::string message = command_line_error({"matmul", "--kernels", kernels});
    EXPECT_TRUE(contains(message, "'all' cannot be combined with other kernels")) << message;
  }
  EXPECT_TRUE(job<StartMatmul>({"matmul", "--kernels", "all"}).kernels.empty());
}

TEST(CommandLine, ErrorsNameTheOption) {
  EXPECT_TRUE(contains(command_line_error({"train", "--lr", "fast"}), "--lr: 'fast'"));
  EXPECT_TRUE(contains(command_line_error({"train", "--batch"}), "--batch needs a value"));
}

TEST(CommandLine, UnknownDtypeListsTheKnownOnes) {
  EXPECT_TRUE(contains(command_line_error({"matmul", "--dtype", "fp8"}), "f32, bf16 or tf32"));
}

TEST(CommandLine, DetectsJsonInInvalidCommandLines) {
  const std::vector<const char*> yes = {"matmul", "--bad", "--json"};
  const std::vector<const char*> no = {"matmul", "--bad"};
  EXPECT_TRUE(asks_for_json(yes));
  EXPECT_FALSE(asks_for_json(no));
}

}  // namespace
}  // namespace lab::app
