#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "app/cli/command_line.h"
#include "compute/core/error.h"
#include "compute/core/events/models.h"
#include "compute/core/fields/request_fields.h"
#include "tests/support/catalogs.h"
#include "tests/support/errors.h"
#include "tests/support/text.h"

namespace lab::app {
namespace {

using Arguments = std::vector<const char*>;

JobOptions options(Arguments arguments) {
  arguments.insert(arguments.begin(), "scaling");
  return std::get<JobOptions>(parse_command_line(arguments));
}

StartScaling parse_scaling(const Arguments& arguments) {
  return std::get<StartScaling>(options(arguments).command);
}

std::string scaling_problem(const Arguments& arguments) {
  std::string message = test::message_of([&] { options(arguments); }, Errc::Usage);
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  return message;
}

using test::contains;

TEST(ScalingOptions, HelpInEveryLanguageListsTheLinks) {
  for (std::size_t i = 0; i < enum_names<Language>().size(); ++i) {
    const test::WithLanguage language(static_cast<Language>(i));
    const std::string help =
        std::get<HelpOptions>(parse_command_line(std::vector<const char*>{"scaling", "--help"}))
            .text;
    EXPECT_TRUE(contains(help, "pcie3")) << help;
  }
}

TEST(ScalingOptions, DefaultsToOneDevicePerCore) {
  EXPECT_EQ(options({}).cpu_devices, kOneDevicePerCore);
  const StartScaling r = parse_scaling({});
  EXPECT_EQ(r.training.model, "lenet");
  EXPECT_TRUE(r.training.devices.empty());
  EXPECT_TRUE(r.measure);
  EXPECT_TRUE(r.accuracy);
  EXPECT_EQ(r.modes, std::vector<ScalingMode>{ScalingMode::Strong});
  EXPECT_EQ(r.predict_devices, 16);
  EXPECT_EQ(r.link, "nvlink");
}

TEST(ScalingOptions, ReadsMeasurementOptions) {
  const Arguments arguments = {"--model",
                               "mlp",
                               "--batch",
                               "64",
                               "--devices",
                               "cpu:0,cpu:1",
                               "--counts",
                               "2,1",
                               "--cpu-devices",
                               "2",
                               "--mode",
                               "both",
                               "--steps",
                               "5",
                               "--rounds",
                               "2",
                               "--lr",
                               "0.5",
                               "--seed",
                               "9",
                               "--kernels",
                               "library",
                               "--shares",
                               "auto",
                               "--json",
                               "--no-accuracy",
                               "--accuracy-steps",
                               "7",
                               "--synthetic-train",
                               "512",
                               "--synthetic-test",
                               "128"};
  EXPECT_EQ(options(arguments).cpu_devices, 2);
  EXPECT_TRUE(options(arguments).json);
  const StartScaling r = parse_scaling(arguments);
  EXPECT_EQ(r.training.model, "mlp");
  EXPECT_EQ(r.training.batch, 64);
  EXPECT_EQ(r.training.devices, (std::vector<Device>{cpu(0), cpu(1)}));
  EXPECT_EQ(r.counts, (std::vector<int>{2, 1}));
  EXPECT_EQ(r.modes, (std::vector<ScalingMode>{ScalingMode::Strong, ScalingMode::Weak}));
  EXPECT_EQ(r.steps, 5);
  EXPECT_EQ(r.rounds, 2);
  EXPECT_EQ(r.training.lr, 0.5);
  EXPECT_EQ(r.training.seed, 9U);
  EXPECT_EQ(r.training.kernels, Kernels::Library);
  EXPECT_EQ(r.training.share_policy, SharePolicy::Auto);
  EXPECT_FALSE(r.accuracy);
  EXPECT_EQ(r.accuracy_steps, 7);
  EXPECT_EQ(r.training.synthetic_train, 512);
}

TEST(ScalingOptions, DataDirectoryImpliesFashionMnist) {
  EXPECT_EQ(parse_scaling({"--data-dir", "x"}).training.data, DataSource::FashionMnist);
}

TEST(ScalingOptions, KnownTimeSkipsTheMeasurement) {
  const StartScaling typed =
      parse_scaling({"--compute-ms", "52", "--predict", "32", "--link", "pcie3", "--mode", "weak"});
  EXPECT_FALSE(typed.measure);
  EXPECT_DOUBLE_EQ(typed.compute_s.value(), 0.052);
  EXPECT_EQ(typed.predict_devices, 32);
  EXPECT_EQ(typed.link, "pcie3");
  EXPECT_TRUE(parse_scaling({"--compute-ms", "52", "--devices", "cpu:0"}).measure);
  EXPECT_TRUE(parse_scaling({"--compute-ms", "52", "--cpu-devices", "2"}).measure);
  EXPECT_TRUE(parse_scaling({"--compute-ms", "52", "--counts", "2"}).measure);
  EXPECT_FALSE(
      parse_scaling({"--compute-ms", "52", "--devices", "cpu:0", "--predict-only"}).measure);
}

TEST(ScalingOptions, ReadsTheCostsOfAStep) {
  const StartScaling r = parse_scaling({"--compute-ms", "52", "--fixed-ms", "4", "--style",
                                        "dataparallel", "--repeat-ms", "9", "--read-ms", "11"});
  EXPECT_DOUBLE_EQ(r.fixed_s, 0.004);
  EXPECT_EQ(r.style, ParallelStyle::DataParallel);
  EXPECT_DOUBLE_EQ(r.repeated_s.value(), 0.009);
  EXPECT_DOUBLE_EQ(r.reading_s, 0.011);
  EXPECT_EQ(parse_scaling({}).style, ParallelStyle::Ddp);
  EXPECT_FALSE(parse_scaling({"--style", "dataparallel"}).repeated_s) << "estimated";
  EXPECT_TRUE(contains(scaling_problem({"--fixed-ms", "4"}), "--compute-ms X or --reference FILE"));
  EXPECT_TRUE(contains(scaling_problem({"--compute-ms", "4", "--fixed-ms", "4"}), "below"));
  EXPECT_TRUE(contains(scaling_problem({"--repeat-ms", "4"}), "--style dataparallel"));
  EXPECT_TRUE(contains(scaling_problem({"--style", "horovod"}), "--style"));
}

TEST(ScalingOptions, CheckMeasuresNothing) {
  const StartScaling r = parse_scaling({"--check"});
  EXPECT_TRUE(r.check);
  EXPECT_FALSE(r.measure);
}

TEST(ScalingOptions, ReferenceSetsTheModelUnlessGiven) {
  const StartScaling r = parse_scaling({"--reference", "a.json"});
  EXPECT_FALSE(r.measure);
  EXPECT_EQ(r.reference_file, "a.json");
  EXPECT_EQ(r.training.model, "");
  EXPECT_EQ(parse_scaling({"--reference", "a.json", "--model", "mlp"}).training.model, "mlp");
}

TEST(ScalingOptions, AccuracyStepsDefaultToThoseOfTheModel) {
  EXPECT_EQ(parse_scaling({}).accuracy_steps, find_model("lenet")->accuracy_steps);
  EXPECT_EQ(parse_scaling({"--accuracy-steps", "100"}).accuracy_steps, 100);
  EXPECT_EQ(parse_scaling({"--model", "resnet18"}).accuracy_steps,
            find_model("resnet18")->accuracy_steps);
}

TEST(ScalingOptions, HelpNamesTheStepsOfEachModel) {
  const std::string help = field_of(&StartScaling::accuracy_steps).help;
  for (const ModelFacts& model : kModelFacts) {
    EXPECT_NE(help.find(std::to_string(model.accuracy_steps)), std::string::npos) << model.name;
  }
}

TEST(ScalingOptions, AcceptsSharesWithoutDevices) {
  EXPECT_EQ(parse_scaling({"--shares", "0.6,0.4"}).training.shares,
            (std::vector<double>{0.6, 0.4}));
}

TEST(ScalingOptions, ErrorsNameTheOptionAndTheFix) {
  EXPECT_TRUE(contains(scaling_problem({"--link", "nvlinc"}), "did you mean 'nvlink'?"));
  EXPECT_TRUE(contains(scaling_problem({"--counts", "1,,2"}), "--counts: "));
  EXPECT_TRUE(contains(scaling_problem({"--counts", "0"}), "'0' is not a whole number from 1"));
  EXPECT_TRUE(contains(scaling_problem({"--mode", "week"}), "did you mean 'weak'?"));
  EXPECT_TRUE(contains(scaling_problem({"--steps", "0"}), "--steps"));
  EXPECT_TRUE(contains(scaling_problem({"--compute-ms", "0"}), "--compute-ms"));
  EXPECT_TRUE(contains(scaling_problem({"--predict-only"}), "--compute-ms X or --reference FILE"));
  EXPECT_TRUE(contains(scaling_problem({"--compute-ms", "1", "--reference", "f"}), "contradict"));
  EXPECT_TRUE(contains(scaling_problem({"--compute-ms", "1", "--predict", "0"}), "nothing to do"));
  EXPECT_TRUE(contains(scaling_problem({"--devices", "cpu:3", "--cpu-devices", "2"}), "cpu:3"));
  EXPECT_TRUE(contains(scaling_problem({"--devices", "cpu:0", "--shares", "1,2"}), "--shares"));
  EXPECT_TRUE(contains(scaling_problem({"--model", "lennet"}), "did you mean 'lenet'?"));
}

}  // namespace
}  // namespace lab::app
