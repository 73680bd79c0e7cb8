#include "ui/model/forms/forms.h"
#include "compute/core/events/training_preset.h"

#include <gtest/gtest.h>

#include "compute/core/error.h"
#include "tests/support/errors.h"
#include "tests/ui/events.h"
#include "ui/model/training_presets.h"

namespace lab::ui {
namespace {

using namespace lab::test;

TEST(Forms, ParsesShapes) {
  EXPECT_EQ(parse_shape("1024,1024"), (std::vector<std::int64_t>{1024, 1024}));
  EXPECT_EQ(parse_shape("[2, 3]"), (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(parse_shape("2 x 3x4"), (std::vector<std::int64_t>{2, 3, 4}));
  EXPECT_EQ(parse_shape(""), (std::vector<std::int64_t>{}));
  for (const char* bad :
       {"a", "2,b", "-1", "2;3", "99999999999999999999", "90000,x", "2,", ",2", "2,,3"}) {
    EXPECT_THROW(parse_shape(bad), Error) << bad;
  }
}

TEST(Forms, CommandsMatchTheForms) {
  const MachineInfo machine = machine_of(2);
  TransferForm transfers;
  transfers.from = 2;
  transfers.request.ops = {TransferOp::Copy};
  transfers.sizes = "1KiB,1MiB";
  const StartTransfers t = to_command(transfers, machine, false);
  EXPECT_EQ(t.from, std::vector<Device>{cpu(1)});
  EXPECT_TRUE(t.to.empty());
  EXPECT_EQ(t.ops, std::vector<TransferOp>{TransferOp::Copy});
  EXPECT_EQ(t.sizes_bytes, (std::vector<std::int64_t>{1024, 1048576}));
  EXPECT_FALSE(t.live);

  MatmulForm matmul;
  matmul.which = 1;
  EXPECT_EQ(to_command(matmul, machine, false).kernels, std::vector<std::string>{"best"});
  EXPECT_EQ(to_command(matmul, machine, false).sizes.back(), 4096);
  EXPECT_EQ(to_command(matmul, machine, false).dtype, Precision::F32);
  matmul.request.dtype = Precision::BF16;
  EXPECT_EQ(to_command(matmul, machine, false).dtype, Precision::BF16);
  matmul.request.dtype = Precision::TF32;
  EXPECT_EQ(to_command(matmul, machine, false).dtype, Precision::F32) << "no GPU, no tf32";
  MachineInfo with_gpu = machine;
  with_gpu.devices.emplace_back().device = gpu();
  EXPECT_EQ(to_command(matmul, with_gpu, false).dtype, Precision::TF32);

  TrainingForm training;
  const StartTraining s = to_command(training, machine);
  EXPECT_EQ(s.model, "lenet");
  EXPECT_EQ(*s.lr, 0.9);
  EXPECT_EQ(s.batch, 256);
  EXPECT_EQ(s.epochs, 10);
  EXPECT_EQ(s.devices, std::vector<Device>{cpu(0)});
}

TEST(Forms, ALiveTransferIsTheChosenCase) {
  const MachineInfo machine = machine_of(2);
  TransferForm form;
  form.request.ops = {TransferOp::Copy};
  form.live_op = static_cast<int>(TransferOp::Triad);
  form.live_size = "4 MiB";
  form.live_all_threads = true;
  form.to = 2;
  const StartTransfers live = to_command(form, machine, true);
  EXPECT_TRUE(live.live);
  EXPECT_EQ(live.ops, std::vector<TransferOp>{TransferOp::Triad});
  EXPECT_EQ(live.sizes_bytes, std::vector<std::int64_t>{4 * kMiB});
  EXPECT_EQ(live.from, std::vector<Device>{cpu(1)}) << "a triad stays within a device";
  EXPECT_EQ(live.to, std::vector<Device>{cpu(1)});
  EXPECT_TRUE(live.all_threads);
  EXPECT_FALSE(live.one_thread);
  form.from = 1;
  EXPECT_THROW(to_command(form, machine, true), Error) << "not between devices";
  form.live_op = static_cast<int>(TransferOp::Copy);
  EXPECT_EQ(to_command(form, machine, true).from, std::vector<Device>{cpu(0)});
  form.live_size = "1 MiB, 2 MiB";
  EXPECT_THROW(to_command(form, machine, true), Error);
}

TEST(Forms, ParsesSharesInAnyUnit) {
  EXPECT_EQ(parse_shares("0.7, 0.3", 2), (std::vector<double>{0.7, 0.3}));
  EXPECT_EQ(parse_shares("70% 30%", 2), (std::vector<double>{70, 30}));
  EXPECT_EQ(parse_shares(" 1;0 ; 2", 3), (std::vector<double>{1, 0, 2}));
  for (const char* bad : {"", "0.7", "0.7, 0.2, 0.1", "0.7, x", "1, -1", "0, 0", "nan, 1", "1, inf",
                          "0.7-0.3", "1e999, 1"}) {
    EXPECT_THROW(parse_shares(bad, 2), Error) << bad;
  }
  try {
    parse_shares("0.7", 2);
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(), "1 share (0.7) for 2 devices; give one per device");
  }
}

TEST(Forms, RejectsFractionsThatDoNotSumToOne) {
  for (const char* bad : {"0.5, 0.4", "0.7 0.4", "0.5, 1"}) {
    EXPECT_THROW(parse_shares(bad, 2), Error) << bad;
  }
  EXPECT_EQ(parse_shares("50, 40", 2), (std::vector<double>{50, 40}));
  EXPECT_EQ(parse_shares("1.5, 0.5", 2), (std::vector<double>{1.5, 0.5}));
}

TEST(Forms, TrainingOnSeveralDevices) {
  const MachineInfo machine = machine_of(3);
  TrainingForm form;
  form.devices = {true, false, true};
  form.request.share_policy = SharePolicy::Listed;
  form.shares = "3, 1";
  form.request.lr_scale = LrScale::Linear;
  form.request.warmup_epochs = 1.5;
  form.request.checkpoint_dir = "kept";
  form.request.checkpoint_every = 100;
  form.request.resume_dir = "before";
  const StartTraining s = to_command(form, machine);
  EXPECT_EQ(s.devices, (std::vector<Device>{cpu(0), cpu(2)}));
  EXPECT_EQ(s.share_policy, SharePolicy::Listed);
  EXPECT_EQ(s.shares, (std::vector<double>{3, 1}));
  EXPECT_EQ(s.lr_scale, LrScale::Linear);
  EXPECT_EQ(s.warmup_epochs, 1.5);
  EXPECT_EQ(s.checkpoint_dir, "kept");
  EXPECT_EQ(s.checkpoint_every, 100);
  EXPECT_EQ(s.resume_dir, "before");

  form.shares = "1, 1, 1";
  EXPECT_THROW(to_command(form, machine), Error);
  form.devices = {true};  // one device: the list is ignored
  EXPECT_EQ(to_command(form, machine).share_policy, SharePolicy::Equal);
  EXPECT_TRUE(to_command(form, machine).shares.empty());
}

TEST(Forms, ChapterRunsUseTheAvailableDevices) {
  TrainingForm form;
  form.request.momentum = 0.9;
  form.request.lr_scale = LrScale::Linear;
  EXPECT_EQ(preset_of(form, machine_of(4)), 0);
  fill_preset(2, machine_of(4), form);
  const StartTraining s = to_command(form, machine_of(4));
  EXPECT_EQ(s.model, "resnet18");
  EXPECT_EQ(s.data, DataSource::FashionMnist);
  EXPECT_EQ(s.batch, 512);
  EXPECT_EQ(*s.lr, 0.2);
  EXPECT_EQ(s.momentum, 0);
  EXPECT_EQ(s.lr_scale, LrScale::None);
  EXPECT_EQ(s.devices, (std::vector<Device>{cpu(0), cpu(1)}));
  EXPECT_EQ(preset_of(form, machine_of(4)), 2);
  EXPECT_EQ(preset_stand_in(2, machine_of(4)), "cpu:0 and cpu:1 stand in for the GPUs");
  form.request.batch = 256;
  EXPECT_EQ(preset_of(form, machine_of(4)), 0);

  form.request.schedule = LrSchedule::Linear;
  form.request.augment = Augmentation::Flip;
  EXPECT_EQ(preset_of(form, machine_of(4)), 0);
  fill_preset(2, machine_of(1), form);
  EXPECT_EQ(form.request.schedule, LrSchedule::Constant);
  EXPECT_EQ(training_devices(form, machine_of(1)), std::vector<Device>{cpu(0)});
  EXPECT_EQ(preset_stand_in(2, machine_of(1)), "cpu:0 alone stands in for the 2 GPUs");

  MachineInfo mixed = machine_of(2);
  for (int i = 0; i < 2; ++i) {
    mixed.devices.emplace_back().device = {DeviceKind::Cuda, i};
  }
  fill_preset(1, mixed, form);
  EXPECT_EQ(training_devices(form, mixed), (std::vector<Device>{{DeviceKind::Cuda, 0}}));
  fill_preset(2, mixed, form);
  EXPECT_EQ(training_devices(form, mixed).back(), (Device{DeviceKind::Cuda, 1}));
  EXPECT_EQ(preset_stand_in(2, mixed), "");
}

TEST(Forms, TheDefaultsAreAPreset) {
  const MachineInfo machine = machine_of(1);
  TrainingForm form;
  EXPECT_EQ(preset_names().at(static_cast<std::size_t>(preset_of(form, machine))),
            "LeNet: batch 256, lr 0.9");
  fill_preset(3, machine, form);
  fill_preset(5, machine, form);
  EXPECT_EQ(preset_of(form, machine), 5);
  EXPECT_EQ(form.request.data, DataSource::Synthetic) << "not that of the preset before";
  form.request.synthetic_train = 6000;
  EXPECT_EQ(preset_of(form, machine), 0);
  form.request.data = DataSource::FashionMnist;
  EXPECT_EQ(preset_of(form, machine), 5) << "the book's data set";
  fill_preset(5, machine, form);
  form.request.epochs = 3;
  EXPECT_EQ(preset_of(form, machine), 0);
}

TEST(Forms, RejectsInvalidForms) {
  const MachineInfo machine = machine_of(1);
  TransferForm transfers;
  transfers.request.ops = {};
  EXPECT_THROW(to_command(transfers, machine, false), Error);
  transfers = {};
  transfers.sizes = "1KiB..";
  EXPECT_THROW(to_command(transfers, machine, false), Error);
  MatmulForm matmul;
  matmul.which = 2;
  EXPECT_THROW(to_command(matmul, machine, false), Error);
  TrainingForm training;
  training.request.lr = 0;
  EXPECT_THROW(to_command(training, machine), Error);
  MemoryForm memory;
  memory.dtype = static_cast<int>(DType::I32);
  EXPECT_THROW(to_command(memory, machine), Error);
}

TEST(Forms, FastPresetKeepsTheDevices) {
  const MachineInfo machine = machine_of(2);
  TrainingForm form;
  form.devices = {false, true};
  form.request.lr_scale = LrScale::Linear;
  fill_preset(3, machine, form);
  EXPECT_EQ(preset_of(form, machine), 3);
  EXPECT_EQ(preset_stand_in(3, machine), "");
  const StartTraining s = to_command(form, machine);
  EXPECT_TRUE(follows_preset(TrainingPreset::Fast, s));
  EXPECT_EQ(s.model, "convnet");
  EXPECT_EQ(s.first_layer, FirstLayer::Whitened);
  EXPECT_EQ(s.lr_scale, LrScale::None);
  EXPECT_EQ(s.data, DataSource::FashionMnist);
  EXPECT_EQ(s.devices, std::vector<Device>{cpu(1)});
  form.request.model = "mlp";
  EXPECT_EQ(test::message_of([&] { to_command(form, machine); }, Errc::Usage),
            "MLP does not begin with a convolution; set \"First layer\" to \"Random\"");
  form.request.model = "convnet";
  form.request.epochs = 9;
  EXPECT_EQ(preset_of(form, machine), 0);
  fill_preset(3, machine, form);
  form.request.data = DataSource::Synthetic;
  EXPECT_EQ(preset_of(form, machine), 0);
}

TEST(Forms, AccuratePresetIsOneOfItsOwn) {
  const MachineInfo machine = machine_of(1);
  TrainingForm form;
  form.request.dtype = Precision::BF16;
  fill_preset(4, machine, form);
  EXPECT_EQ(preset_of(form, machine), 4);
  const StartTraining s = to_command(form, machine);
  EXPECT_TRUE(follows_preset(TrainingPreset::Accurate, s));
  EXPECT_EQ(s.data, DataSource::FashionMnist);
  EXPECT_EQ(s.dtype, Precision::BF16) << "kept";
  form.request.data = DataSource::Synthetic;
  EXPECT_EQ(preset_of(form, machine), 0);
}

TEST(Forms, SurviveSavingAndLoading) {
  Forms forms;
  forms.memory.shape = "3,4";
  forms.transfers.request.ops = {TransferOp::Write, TransferOp::Triad};
  forms.matmul.chosen = {"naive", "packed"};
  forms.matmul.which = 2;
  forms.matmul.request.dtype = Precision::BF16;
  forms.training.request.lr = 0.05;
  forms.training.request.model = "resnet18";
  forms.training.devices = {true, false, true};
  forms.training.request.share_policy = SharePolicy::Listed;
  forms.training.shares = "5, 1";
  forms.training.request.warmup_epochs = 2;
  forms.training.request.checkpoint_dir = "kept";
  forms.log.filter = "a, b = c\n";
  std::map<std::string, std::string> saved, again;
  save_forms(forms, saved);
  Forms loaded;
  load_forms(loaded, saved);
  save_forms(loaded, again);
  EXPECT_EQ(saved, again);
  EXPECT_EQ(loaded.matmul.chosen, forms.matmul.chosen);
  EXPECT_EQ(loaded.matmul.request.dtype, Precision::BF16);
  EXPECT_EQ(loaded.training.request.lr, 0.05);
  EXPECT_EQ(loaded.training.request.model, "resnet18");
  EXPECT_EQ(loaded.training.devices, forms.training.devices);
  EXPECT_EQ(loaded.training.shares, "5, 1");
  EXPECT_EQ(loaded.training.request.checkpoint_dir, "kept");
}

// "11" of two devices would tick two of four.
TEST(Forms, ForgetChoicesOfOtherDevices) {
  Forms forms;
  forms.memory.device = forms.transfers.from = forms.transfers.to = forms.matmul.device = 2;
  forms.training.devices = forms.scaling.devices = {true, true};
  forms.training.request.batch = 64;
  forget_devices(forms);
  EXPECT_EQ(forms.memory.device, 0);
  EXPECT_EQ(forms.transfers.from, 0);
  EXPECT_EQ(forms.matmul.device, 0);
  EXPECT_EQ(scaling_devices(forms.scaling, machine_of(4)).size(), 4U);
  EXPECT_EQ(training_devices(forms.training, machine_of(4)).size(), 1U);
  EXPECT_EQ(forms.training.request.batch, 64);
}

// Existing settings files must stay readable: these keys and values are fixed.
TEST(Forms, SettingsKeepTheirKeys) {
  const std::map<std::string, std::string> saved = {{"training.model", "3"},
                                                    {"training.data", "1"},
                                                    {"training.data_dir", "d"},
                                                    {"training.synthetic_train", "7"},
                                                    {"training.synthetic_test", "8"},
                                                    {"training.batch", "64"},
                                                    {"training.lr", "0.05"},
                                                    {"training.momentum", "0.9"},
                                                    {"training.weight_decay", "0.1"},
                                                    {"training.epochs", "3"},
                                                    {"training.order", "1"},
                                                    {"training.kernels", "2"},
                                                    {"training.dtype", "1"},
                                                    {"training.profile", "1"},
                                                    {"training.seed", "5"},
                                                    {"training.division", "2"},
                                                    {"training.shares", "5, 1"},
                                                    {"training.lr_scale", "1"},
                                                    {"training.warmup_epochs", "1.5"},
                                                    {"training.schedule", "1"},
                                                    {"training.label_smoothing", "0.1"},
                                                    {"training.augment", "1"},
                                                    {"training.first_layer", "1"},
                                                    {"training.checkpoint_dir", "c"},
                                                    {"training.checkpoint_every", "9"},
                                                    {"training.resume_dir", "r"},
                                                    {"training.init_file", "i"},
                                                    {"training.save_file", "s"},
                                                    {"transfers.read", "0"},
                                                    {"transfers.one_thread", "0"},
                                                    {"transfers.cache", "1"},
                                                    {"transfers.budget_s", "2"},
                                                    {"matmul.dtype", "2"},
                                                    {"matmul.cache", "1"},
                                                    {"matmul.budget_s", "0.1"},
                                                    {"matmul.seed", "6"},
                                                    {"matmul.together", "1"},
                                                    {"scaling.model", "0"},
                                                    {"scaling.data", "1"},
                                                    {"scaling.data_dir", "e"},
                                                    {"scaling.batch", "32"},
                                                    {"scaling.modes", "2"},
                                                    {"scaling.steps", "11"},
                                                    {"scaling.warmup", "0"},
                                                    {"scaling.rounds", "4"},
                                                    {"scaling.accuracy", "0"},
                                                    {"scaling.accuracy_steps", "77"},
                                                    {"scaling.predict_devices", "64"},
                                                    {"scaling.link", "0"},
                                                    {"scaling.reference_file", "f"}};
  Forms forms;
  load_forms(forms, saved);
  const StartTraining& t = forms.training.request;
  EXPECT_EQ(t.model, "resnet18");
  EXPECT_EQ(t.data, DataSource::FashionMnist);
  EXPECT_EQ(t.lr, 0.05);
  EXPECT_TRUE(t.compare_kernels);
  EXPECT_EQ(t.dtype, Precision::BF16);
  EXPECT_EQ(t.seed, 5u);
  EXPECT_EQ(t.share_policy, SharePolicy::Listed);
  EXPECT_FALSE(has_op(forms.transfers, TransferOp::Read));
  EXPECT_EQ(forms.matmul.request.dtype, Precision::TF32);
  EXPECT_EQ(forms.scaling.request.training.model, "softmax");
  EXPECT_EQ(forms.scaling.request.modes.size(), 2u);
  EXPECT_EQ(forms.scaling.request.link, "pcie3");
  std::map<std::string, std::string> again;
  save_forms(forms, again);
  for (const auto& [key, text] : saved) EXPECT_EQ(again[key], text) << key;
}

TEST(Forms, LoadingIgnoresInvalidValues) {
  Forms forms;
  load_forms(forms, {{"training.model", "9"},
                     {"training.batch", "-3"},
                     {"training.lr", "nan"},
                     {"transfers.copy", "maybe"},
                     {"matmul.budget_s", "1e"},
                     {"training.devices", "012"},
                     {"nonsense", "1"}});
  std::map<std::string, std::string> fresh, loaded;
  save_forms(Forms{}, fresh);
  save_forms(forms, loaded);
  EXPECT_EQ(fresh, loaded);
}

}  // namespace
}  // namespace lab::ui
