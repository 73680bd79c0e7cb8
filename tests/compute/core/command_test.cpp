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

TEST(NamesGpu, ChecksEveryDeviceList) {
  EXPECT_TRUE(names_gpu(transfers({cpu()}, {gpu(1)})));
  EXPECT_TRUE(names_gpu(transfers({gpu()}, {cpu()})));
  StartMatmul matmul;
  matmul.devices = {cpu(), gpu()};
  EXPECT_TRUE(names_gpu(matmul));
  StartTraining training;
  training.devices = {gpu()};
  EXPECT_TRUE(names_gpu(training));
  StartScaling scaling;
  scaling.training = training;
  EXPECT_TRUE(names_gpu(scaling));
  EXPECT_TRUE(names_gpu(tensor_on(gpu())));
  EXPECT_TRUE(names_gpu(CopyTensor{1, gpu()}));
}

TEST(NamesGpu, AllDevicesDoNotRequestAGpu) {
  EXPECT_FALSE(names_gpu(StartTransfers{}));
  EXPECT_FALSE(names_gpu(StartMatmul{}));
  EXPECT_FALSE(names_gpu(StartTraining{}));
  EXPECT_FALSE(names_gpu(MakeTensor{}));
  EXPECT_FALSE(names_gpu(CopyTensor{1, cpu()}));
  EXPECT_FALSE(names_gpu(AddTensors{1, 2}));
  EXPECT_TRUE(names_gpu(AddTensors{1, 2, gpu()}));
  EXPECT_FALSE(names_gpu(FreeTensor{1}));
}

}  // namespace
}  // namespace lab
