#include "compute/core/events/command.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace lab {
namespace {

StartTransfers transfers(std::vector<Device> from, std::vector<Device> to) {
  StartTransfers request;
  request.from = std::move(from);
  request.to = std::move(to);
  return request;
}

MakeTensor tensor_on(Device device) {
  MakeTensor request;
  request.device = device;
  return request;
}

TEST(NamesCard, LooksAtEveryListOfDevices) {
  EXPECT_TRUE(names_card(transfers({cpu()}, {gpu(1)})));
  EXPECT_TRUE(names_card(transfers({gpu()}, {cpu()})));
  StartMatmul matmul;
  matmul.devices = {cpu(), gpu()};
  EXPECT_TRUE(names_card(matmul));
  StartTraining training;
  training.devices = {gpu()};
  EXPECT_TRUE(names_card(training));
  StartScaling scaling;
  scaling.training = training;
  EXPECT_TRUE(names_card(scaling));
  EXPECT_TRUE(names_card(tensor_on(gpu())));
  EXPECT_TRUE(names_card(CopyTensor{1, gpu()}));
}

TEST(NamesCard, AllDevicesAreNoWishForACard) {
  EXPECT_FALSE(names_card(StartTransfers{}));
  EXPECT_FALSE(names_card(StartMatmul{}));
  EXPECT_FALSE(names_card(StartTraining{}));
  EXPECT_FALSE(names_card(MakeTensor{}));
  EXPECT_FALSE(names_card(CopyTensor{1, cpu()}));
  EXPECT_FALSE(names_card(AddTensors{1, 2}));
  EXPECT_FALSE(names_card(FreeTensor{1}));
}

}  // namespace
}  // namespace lab
