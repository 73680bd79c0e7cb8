// The Transfers page with a GPU: the cases that its form offers, and their results.
#include <gtest/gtest.h>

#include "tests/ui/pages/scenes.h"

namespace lab::test {
namespace {

using ui::Model;
using ui::Page;

MachineInfo machine_with_gpu() {
  MachineInfo machine = machine_of(1);
  DeviceInfo device;
  device.device = gpu();
  device.name = "NVIDIA H200";
  machine.devices.push_back(device);
  machine.absent.clear();
  return machine;
}

TransferSample gpu_sample(TransferMover mover, PeerMode peer, std::int64_t bytes) {
  TransferSample s = transfer_sample(cpu(), gpu(), TransferOp::Copy, 1, bytes, 50);
  s.memory = MemoryKind::Pinned;
  s.mover = mover;
  s.peer = peer;
  return s;
}

void feed_transfers(Model& model) {
  model.apply(event(1, 0, JobStarted{"Transfers by size", StartTransfers{}}));
  for (const std::int64_t bytes : {kKiB, kMiB}) {
    model.apply(event(1, 1, gpu_sample(TransferMover::CopyEngine, PeerMode::None, bytes)));
    model.apply(event(1, 1, gpu_sample(TransferMover::Kernel, PeerMode::None, bytes)));
  }
  TransferTimeline timeline;
  timeline.device = gpu();
  timeline.bytes = kMiB;
  timeline.spans = {{"copy in", "copy in 1", 0, 1e-5}, {"compute", "compute 1", 1e-5, 2e-5}};
  timeline.overlapped_s = 2e-5;
  timeline.serial_s = 3e-5;
  model.apply(event(1, 2, timeline));
  TransferPayoff payoff;
  payoff.gpu = gpu();
  payoff.passes = 10;
  payoff.from_bytes = 180 * kKiB;
  model.apply(event(1, 2, payoff));
  model.apply(event(1, 3, JobFinished{}));
}

TEST(GpuTransferCases, EachMoverIsASeparateCase) {
  Model model(machine_with_gpu());
  feed_transfers(model);
  const ui::TransferResults& results = model.transfers().current;
  ASSERT_EQ(results.cases.size(), 2U);
  EXPECT_EQ(results.cases[0].label(), "copy cpu:0 to cuda:0, pinned, copy engine");
  EXPECT_EQ(results.cases[1].label(), "copy cpu:0 to cuda:0, pinned, kernel");
  EXPECT_EQ(results.cases[0].samples.size(), 2U);
  ASSERT_EQ(results.timelines.size(), 1U);
  ASSERT_EQ(results.payoffs.size(), 1U);
  EXPECT_EQ(describe(results.payoffs[0]),
            "Work of 10 passes over pinned data: below 180 KiB it is quicker to stay on cpu:0 than "
            "to move to cuda:0.");
}

TEST(GpuTransferCases, FormOffersGpuCasesIfThereIsAGpu) {
  const ui::TransferForm form;
  EXPECT_EQ(to_command(form, machine_of(1), false).ops.size(), 4U);
  EXPECT_EQ(to_command(form, machine_with_gpu(), false).ops.size(), 8U);
}

TEST(GpuTransferCases, PageShowsCasesAndTimeline) {
  Lab lab(Model(machine_with_gpu()), 1, {1280, 1600});
  lab.open(Page::Transfers);
  EXPECT_TRUE(lab.visible("transfers/op/overlap"));
  feed_transfers(lab.model);
  lab.frames(3);
  EXPECT_NE(lab.backend.find("transfers/timeline/cuda:0"), nullptr);
}

}  // namespace
}  // namespace lab::test
