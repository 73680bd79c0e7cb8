#include "compute/train/request_json.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "compute/core/error.h"
#include "tests/support/errors.h"

namespace lab {
namespace {

// A request in which no field has its default.
StartTraining unusual() {
  StartTraining r;
  r.model = "mlp";
  r.data = DataSource::FashionMnist;
  r.data_dir = "/data/\"quoted\"\n\xc3\xa4";
  r.synthetic_train = 7;
  r.synthetic_test = 8;
  r.devices = {cpu(1), gpu(3)};
  r.batch = 96;
  r.lr = 0.1 + 0.2;
  r.momentum = std::nextafter(0.9, 1.0);
  r.weight_decay = 5e-324;
  r.epochs = 3;
  r.steps = std::numeric_limits<std::int64_t>::max();
  r.order = BatchOrder::Sequential;
  r.seed = std::numeric_limits<std::uint64_t>::max();
  r.kernels = Kernels::Library;
  r.convolution = "gemm";
  r.compare_kernels = true;
  r.profile = true;
  r.dtype = Precision::BF16;
  r.steps_ahead = 3;
  r.init_file = "a";
  r.save_file = "b";
  r.evaluate = false;
  r.share_policy = SharePolicy::Listed;
  r.shares = {0.7, 0.3};
  r.width = 16;
  r.bucket_bytes = 1 << 20;
  r.sum = GradientSum::Nccl;
  r.lr_scale = LrScale::Linear;
  r.warmup_epochs = 1.5;
  r.schedule = LrSchedule::Linear;
  r.label_smoothing = 0.1;
  r.augment = Augmentation::Flip;
  r.first_layer = FirstLayer::Whitened;
  r.stop_at = 0.91;
  r.checkpoint_dir = "c";
  r.checkpoint_every = 10;
  r.resume_dir = "d";
  return r;
}

StartTraining read_back(const StartTraining& request) {
  return training_from_json(to_json(request));
}

TEST(RequestJson, RoundTripsEveryField) {
  const StartTraining r = unusual();
  const StartTraining back = read_back(r);
  EXPECT_EQ(back.model, r.model);
  EXPECT_EQ(back.data, r.data);
  EXPECT_EQ(back.data_dir, r.data_dir);
  EXPECT_EQ(back.synthetic_train, r.synthetic_train);
  EXPECT_EQ(back.synthetic_test, r.synthetic_test);
  EXPECT_EQ(back.devices, r.devices);
  EXPECT_EQ(back.batch, r.batch);
  EXPECT_EQ(back.lr, r.lr);
  EXPECT_EQ(back.momentum, r.momentum);
  EXPECT_EQ(back.weight_decay, r.weight_decay);
  EXPECT_EQ(back.epochs, r.epochs);
  EXPECT_EQ(back.steps, r.steps);
  EXPECT_EQ(back.order, r.order);
  EXPECT_EQ(back.seed, r.seed);
  EXPECT_EQ(back.kernels, r.kernels);
  EXPECT_EQ(back.convolution, r.convolution);
  EXPECT_EQ(back.compare_kernels, r.compare_kernels);
  EXPECT_EQ(back.profile, r.profile);
  EXPECT_EQ(back.dtype, r.dtype);
  EXPECT_EQ(back.steps_ahead, r.steps_ahead);
  EXPECT_EQ(back.init_file, r.init_file);
  EXPECT_EQ(back.save_file, r.save_file);
  EXPECT_EQ(back.evaluate, r.evaluate);
  EXPECT_EQ(back.share_policy, r.share_policy);
  EXPECT_EQ(back.shares, r.shares);
  EXPECT_EQ(back.width, r.width);
  EXPECT_EQ(back.bucket_bytes, r.bucket_bytes);
  EXPECT_EQ(back.sum, r.sum);
  EXPECT_EQ(back.lr_scale, r.lr_scale);
  EXPECT_EQ(back.warmup_epochs, r.warmup_epochs);
  EXPECT_EQ(back.schedule, r.schedule);
  EXPECT_EQ(back.label_smoothing, r.label_smoothing);
  EXPECT_EQ(back.augment, r.augment);
  EXPECT_EQ(back.first_layer, r.first_layer);
  EXPECT_EQ(back.stop_at, r.stop_at);
  EXPECT_EQ(back.checkpoint_dir, r.checkpoint_dir);
  EXPECT_EQ(back.checkpoint_every, r.checkpoint_every);
  EXPECT_EQ(back.resume_dir, r.resume_dir);
  EXPECT_EQ(to_json(r).find('\n'), std::string::npos);
}

TEST(RequestJson, EmptyOptionsStayEmpty) {
  const StartTraining back = read_back(StartTraining{});
  EXPECT_FALSE(back.lr);
  EXPECT_FALSE(back.steps);
  EXPECT_TRUE(back.devices.empty());
  EXPECT_EQ(to_json(back), to_json(StartTraining{}));
}

TEST(RequestJson, RoundTripsDoublesBitForBit) {
  std::mt19937_64 random(1);
  StartTraining r;
  r.shares = {0.0, -0.0, std::numeric_limits<double>::infinity(),
              -std::numeric_limits<double>::infinity()};
  for (int i = 0; i < 1000; ++i) {
    const double value = std::bit_cast<double>(random());
    if (std::isfinite(value)) r.shares.push_back(value);
  }
  const StartTraining back = read_back(r);
  ASSERT_EQ(back.shares.size(), r.shares.size());
  for (std::size_t i = 0; i < r.shares.size(); ++i) {
    EXPECT_EQ(std::bit_cast<std::uint64_t>(back.shares[i]),
              std::bit_cast<std::uint64_t>(r.shares[i]));
  }
  r.lr = std::nan("");
  EXPECT_TRUE(std::isnan(read_back(r).lr.value()));
}

TEST(RequestJson, KeepsNonUtf8Paths) {
  StartTraining r;
  r.data_dir = std::string("/d\xff\x80\0x", 6);
  EXPECT_EQ(read_back(r).data_dir, r.data_dir);
}

TEST(RequestJson, MissingFieldsKeepTheirDefaults) {
  const StartTraining r = training_from_json(R"({"batch":64,"of_another_version":[1]})");
  EXPECT_EQ(r.batch, 64);
  EXPECT_EQ(to_json(training_from_json("{}")), to_json(StartTraining{}));
}

TEST(RequestJson, NamesTheInvalidField) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"batch":"x"})", "batch"},
      {R"({"batch":1.5})", "batch"},
      {R"({"batch":9223372036854775808})", "batch"},
      {R"({"seed":-1})", "seed"},
      {R"({"lr":"fast"})", "lr"},
      {R"({"model":3})", "model"},
      {R"({"model":[300]})", "model"},
      {R"({"devices":["tpu:0"]})", "devices"},
      {R"({"devices":"cpu:0"})", "devices"},
      {R"({"order":"random"})", "order"},
      {R"({"evaluate":1})", "evaluate"},
      {R"({"shares":[0.5,null]})", "shares"},
      {R"({"lr_scale":null})", "lr_scale"},
  };
  for (const auto& [text, field] : cases) {
    const std::string message =
        test::message_of([&json = text] { training_from_json(json); }, Errc::Corrupt);
    EXPECT_NE(message.find(field), std::string::npos) << message;
  }
  for (const char* text : {"", "[]", "{", "{\"batch\":1", "nonsense"}) {
    test::message_of([&] { training_from_json(text); }, Errc::Corrupt);
  }
}

// Quadratic parsing would exceed the test's time limit here.
TEST(RequestJson, RejectsTooManyFields) {
  std::string fields = "{\"a\":0", objects = "{\"a\":[{}";
  for (int i = 0; i < 500'000; ++i) {
    fields += ",\"" + std::to_string(i) + "\":0";
    objects += ",{}";
  }
  for (const std::string& text : {fields + "}", objects + "]}"}) {
    const std::string message = test::message_of([&] { training_from_json(text); }, Errc::Corrupt);
    EXPECT_EQ(message, "a training request has more than 1000 fields");
  }
}

TEST(RequestJson, MutatedTextIsReadOrRejected) {
  const std::string whole = to_json(unusual());
  std::mt19937 random(1);
  for (int round = 0; round < 3000; ++round) {
    std::string text = whole;
    for (auto edits = 1 + random() % 3; edits > 0; --edits) {
      const std::size_t at = random() % text.size();
      switch (random() % 3) {
        case 0: text[at] = static_cast<char>(random()); break;
        case 1: text.erase(at, 1 + random() % 9); break;
        default: text.insert(at, 1, "[]{}\",:09-e"[random() % 11]); break;
      }
    }
    try {
      training_from_json(text);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Errc::Corrupt);
    }
  }
}

TEST(FirstDifference, NamesTheOptionAndBothValues) {
  const StartTraining a;
  EXPECT_EQ(first_difference(a, a), "");
  StartTraining b = a;
  b.batch = 128;
  b.seed = 3;
  EXPECT_EQ(first_difference(a, b), "--batch 256 / --batch 128");
  b = a;
  b.lr = 0.5;
  EXPECT_EQ(first_difference(a, b), "no --lr / --lr 0.5");
  b = a;
  b.order = BatchOrder::Sequential;
  EXPECT_EQ(first_difference(b, a), "--order sequential / --order shuffled");
  b = a;
  b.lr_scale = LrScale::Linear;
  EXPECT_EQ(first_difference(a, b), "--lr-scale none / --lr-scale linear");
  b = a;
  b.synthetic_train = 5;
  EXPECT_EQ(first_difference(a, b), "--synthetic-train 60000 / --synthetic-train 5");
}

TEST(FirstDifference, IgnoresDevicesPathsAndLength) {
  const StartTraining a;
  StartTraining b = unusual();
  b.model = a.model;
  b.width = a.width;
  b.data = a.data;
  b.synthetic_train = a.synthetic_train;
  b.synthetic_test = a.synthetic_test;
  b.batch = a.batch;
  b.lr = a.lr;
  b.momentum = a.momentum;
  b.weight_decay = a.weight_decay;
  b.order = a.order;
  b.seed = a.seed;
  b.dtype = a.dtype;
  b.lr_scale = a.lr_scale;
  b.warmup_epochs = a.warmup_epochs;
  b.schedule = a.schedule;
  b.label_smoothing = a.label_smoothing;
  b.augment = a.augment;
  EXPECT_EQ(first_difference(a, b), "");
}

TEST(FirstDifference, CountsEpochsOfAFallingRate) {
  StartTraining a, b;
  b.epochs = 3;
  EXPECT_EQ(first_difference(a, b), "");
  a.schedule = b.schedule = LrSchedule::Linear;
  EXPECT_EQ(first_difference(a, b), "--epochs 10 / --epochs 3");
  a.schedule = LrSchedule::Constant;
  EXPECT_EQ(first_difference(a, b), "--schedule constant / --schedule linear");
}

TEST(FirstDifference, IgnoresUnusedSyntheticImages) {
  StartTraining a, b;
  a.data = b.data = DataSource::FashionMnist;
  b.synthetic_train = 5;
  EXPECT_EQ(first_difference(a, b), "");
}

TEST(FirstDifference, RanksMustAgreeOnTheLength) {
  const StartTraining a;
  StartTraining b = a;
  b.devices = {cpu(1)};
  b.data_dir = "elsewhere";
  b.save_file = "elsewhere";
  EXPECT_EQ(first_difference_between_ranks(a, b), "");
  b.steps = 5;
  EXPECT_EQ(first_difference_between_ranks(a, b), "no --steps / --steps 5");
  b = a;
  b.evaluate = false;
  EXPECT_EQ(first_difference_between_ranks(a, b), "no --no-eval / --no-eval");
  b.evaluate = a.evaluate;
  b.profile = true;
  EXPECT_EQ(first_difference_between_ranks(a, b), "") << "only rank 0 reports";
  b.compare_kernels = true;
  EXPECT_EQ(first_difference_between_ranks(a, b), "no --kernels both / --kernels both");
  b.compare_kernels = false;
  b = a;
  b.bucket_bytes = 1 << 19;
  EXPECT_EQ(first_difference_between_ranks(a, b), "--bucket-mib 25 / --bucket-mib 0.5");
  b = a;
  b.momentum = 0.9;
  EXPECT_EQ(first_difference_between_ranks(a, b), "--momentum 0 / --momentum 0.9");
}

}  // namespace
}  // namespace lab
