#include "ui/model/forms.h"

#include <gtest/gtest.h>

#include "compute/types/error.h"
#include "tests/ui/events.h"

namespace lab::ui {
namespace {

using namespace lab::test;

TEST(Forms, ShapesAreReadAsPeopleWriteThem) {
  EXPECT_EQ(parse_shape("1024,1024"), (std::vector<std::int64_t>{1024, 1024}));
  EXPECT_EQ(parse_shape("[2, 3]"), (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(parse_shape("2 x 3x4"), (std::vector<std::int64_t>{2, 3, 4}));
  EXPECT_EQ(parse_shape(""), (std::vector<std::int64_t>{}));
  for (const char* bad : {"a", "2,b", "-1", "2;3", "99999999999999999999"}) {
    EXPECT_THROW(parse_shape(bad), Error) << bad;
  }
}

TEST(Forms, CommandsSayWhatWasFilledIn) {
  const MachineInfo machine = machine_of(2);
  TransferForm transfers;
  transfers.from = 2;
  transfers.ops = {false, false, true, false};
  transfers.sizes = "1KiB,1MiB";
  const StartTransfers t = to_command(transfers, machine, true);
  EXPECT_EQ(t.from, std::vector<Device>{cpu(1)});
  EXPECT_TRUE(t.to.empty());
  EXPECT_EQ(t.ops, std::vector<TransferOp>{TransferOp::Copy});
  EXPECT_EQ(t.sizes_bytes, (std::vector<std::int64_t>{1024, 1048576}));
  EXPECT_TRUE(t.live);

  MatmulForm matmul;
  matmul.which = 1;
  EXPECT_EQ(to_command(matmul, machine, false).kernels, std::vector<std::string>{"best"});
  EXPECT_EQ(to_command(matmul, machine, false).sizes.back(), 4096);

  TrainingForm training;
  const StartTraining s = to_command(training, machine);
  EXPECT_EQ(s.model, "lenet");
  EXPECT_EQ(*s.lr, 0.9);
  EXPECT_EQ(s.batch, 256);
  EXPECT_EQ(s.epochs, 10);
  EXPECT_EQ(s.devices, std::vector<Device>{cpu(0)});
}

TEST(Forms, WhatCannotBeMeantIsRefusedWithASentence) {
  const MachineInfo machine = machine_of(1);
  TransferForm transfers;
  transfers.ops = {};
  EXPECT_THROW(to_command(transfers, machine, false), Error);
  transfers = {};
  transfers.sizes = "1KiB..";
  EXPECT_THROW(to_command(transfers, machine, false), Error);
  MatmulForm matmul;
  matmul.which = 2;
  EXPECT_THROW(to_command(matmul, machine, false), Error);
  TrainingForm training;
  training.lr = 0;
  EXPECT_THROW(to_command(training, machine), Error);
  MemoryForm memory;
  memory.dtype = static_cast<int>(DType::I32);
  EXPECT_THROW(to_command(memory, machine), Error);
}

TEST(Forms, SurviveSavingAndLoading) {
  Forms forms;
  forms.memory.shape = "3,4";
  forms.transfers.ops = {false, true, false, true};
  forms.matmul.chosen = {"naive", "packed"};
  forms.matmul.which = 2;
  forms.training.lr = 0.05;
  forms.training.model = 3;
  forms.training.devices = {true, false, true};
  forms.log.filter = "a, b = c\n";
  std::map<std::string, std::string> saved, again;
  save_forms(forms, saved);
  Forms loaded;
  load_forms(loaded, saved);
  save_forms(loaded, again);
  EXPECT_EQ(saved, again);
  EXPECT_EQ(loaded.matmul.chosen, forms.matmul.chosen);
  EXPECT_EQ(loaded.training.lr, 0.05);
  EXPECT_EQ(loaded.training.devices, forms.training.devices);
}

TEST(Forms, LoadingIgnoresWhatDoesNotFit) {
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
