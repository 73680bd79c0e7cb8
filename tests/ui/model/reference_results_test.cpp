#include "ui/model/reference_results.h"

#include <gtest/gtest.h>

#include "tests/ui/events.h"
#include "tests/ui/references.h"

namespace lab::test {
namespace {

using ui::MatmulResults;
using ui::ReferenceResults;
using ui::TransferResults;

MatmulResults ladder_here(Device device = cpu(), Precision dtype = Precision::F32) {
  MatmulResults here;
  here.request.dtype = dtype;
  for (const char* name : {"naive", "simd", "onednn"}) {
    for (const int n : {64, 128, 256}) {
      MatmulSample s = matmul_sample(device, name, n, 10);
      s.dtype = dtype;
      here.add(s, 0);
    }
  }
  return here;
}

TransferResults sweep_here(TransferOp op, int threads) {
  TransferResults here;
  for (const int kib : {1, 4, 16}) {
    here.add(transfer_sample(cpu(), cpu(), op, threads, kib * kKiB, 20), 0);
  }
  return here;
}

TEST(ReferenceResults, AreGroupedByElementType) {
  const ReferenceResults r(reference_machine());
  EXPECT_EQ(r.matmul_of(Precision::F32).kernels.size(), 2U);
  EXPECT_EQ(r.matmul_of(Precision::BF16).kernels.size(), 1U);
  EXPECT_TRUE(r.matmul_of(Precision::TF32).empty());
  EXPECT_EQ(r.transfers.cases.size(), 2U);
}

TEST(ReferenceResults, MatchKernelsByName) {
  const ReferenceResults r(reference_machine());
  const MatmulResults here = ladder_here();
  const auto found = ui::overlay(r, here);
  EXPECT_EQ(found.note, "");
  ASSERT_EQ(found.curves.size(), 2U);
  EXPECT_EQ(found.curves[0].here->name, "naive");
  EXPECT_EQ(found.curves[0].there->name, "naive");
  EXPECT_EQ(found.curves[1].here->name, "onednn");
  // The reference covers sizes 32 to 1024; this machine has 64, 128 and 256.
  EXPECT_EQ(found.curves[0].there->size[found.curves[0].first], 64);
  EXPECT_EQ(found.curves[0].count, 3U);
}

TEST(ReferenceResults, ElementTypeMustMatch) {
  const ReferenceResults r(reference_machine());
  const MatmulResults bf16 = ladder_here(cpu(), Precision::BF16);
  const auto found = ui::overlay(r, bf16);
  ASSERT_EQ(found.curves.size(), 1U);
  EXPECT_EQ(found.curves[0].there->samples[0].dtype, Precision::BF16);
  const auto none = ui::overlay(r, ladder_here(cpu(), Precision::TF32));
  EXPECT_TRUE(none.curves.empty());
  EXPECT_EQ(none.note, "Model machine has no tf32 results at these sizes.");
}

TEST(ReferenceResults, OtherDeviceKindsShowTheFastest) {
  const ReferenceResults r(reference_machine());
  const auto found = ui::overlay(r, ladder_here(gpu()));
  ASSERT_EQ(found.curves.size(), 2U);
  EXPECT_EQ(found.curves[0].here, nullptr);
  EXPECT_EQ(found.curves[0].there->name, "naive");
  EXPECT_EQ(found.curves[1].there->name, "onednn");
  EXPECT_EQ(found.note, "Model machine has other kernels: its fastest are drawn.");
  EXPECT_EQ(ui::reference_sample(r, gpu(), "naive", Precision::F32, 64, CacheState::Warm), nullptr);
}

TEST(ReferenceResults, SizeMustMatch) {
  const ReferenceResults r(reference_machine());
  MatmulResults small;
  small.add(matmul_sample(cpu(), "naive", 16, 10), 0);
  const auto found = ui::overlay(r, small);
  EXPECT_TRUE(found.curves.empty());
  EXPECT_EQ(found.note, "Model machine has no f32 results at these sizes.");
  const auto at = [&](std::int64_t n) {
    return ui::reference_sample(r, cpu(), "naive", Precision::F32, n, CacheState::Warm);
  };
  ASSERT_NE(at(128), nullptr);
  EXPECT_EQ(at(128)->n, 128);
  EXPECT_EQ(at(100), nullptr);
}

TEST(ReferenceResults, CacheStateMustMatch) {
  const ReferenceResults r(reference_machine());
  MatmulResults cold = ladder_here();
  cold.request.cache = CacheState::Cold;
  const auto found = ui::overlay(r, cold);
  EXPECT_TRUE(found.curves.empty());
  EXPECT_EQ(found.note,
            "Model machine was measured with warm caches, this machine with cold ones: not drawn.");
  EXPECT_EQ(ui::reference_sample(r, cpu(), "naive", Precision::F32, 64, CacheState::Cold), nullptr);
  TransferResults sweep = sweep_here(TransferOp::Copy, 1);
  sweep.request.cache = CacheState::Cold;
  EXPECT_EQ(ui::overlay(r, sweep).note, found.note);
}

TEST(ReferenceResults, NoLocalResultsGiveNoNote) {
  const ReferenceResults r(reference_machine());
  EXPECT_EQ(ui::overlay(r, MatmulResults{}).note, "");
  EXPECT_EQ(ui::overlay(r, TransferResults{}).note, "");
}

TEST(ReferenceResults, TransfersMatchByOperationAndThreads) {
  const ReferenceResults r(reference_machine());
  const TransferResults one = sweep_here(TransferOp::Copy, 1);
  const auto found = ui::overlay(r, one);
  ASSERT_EQ(found.curves.size(), 1U);
  EXPECT_EQ(found.curves[0].there->threads, 1);
  EXPECT_EQ(found.curves[0].count, 3U) << "1 to 16 KiB of its 1 KiB to 1 MiB";
  // "All threads" means 2 here and 64 on the reference machine.
  const auto all = ui::overlay(r, sweep_here(TransferOp::Copy, 2));
  ASSERT_EQ(all.curves.size(), 1U);
  EXPECT_EQ(all.curves[0].there->threads, 64);
  EXPECT_EQ(all.note, "Model machine used 64 threads, the device here 2.");
  EXPECT_EQ(found.note, "");
  const auto none = ui::overlay(r, sweep_here(TransferOp::Triad, 1));
  EXPECT_TRUE(none.curves.empty());
  EXPECT_EQ(none.note, "Model machine has no transfers of this kind at these sizes.");
}

TEST(ReferenceResults, TransfersMatchByDevicesAndMemory) {
  const ReferenceResults r(reference_machine());
  TransferResults between;
  between.add(transfer_sample(cpu(0), cpu(1), TransferOp::Copy, 1, kKiB, 20), 0);
  EXPECT_TRUE(ui::overlay(r, between).curves.empty());
  TransferResults pinned;
  TransferSample s = transfer_sample(cpu(), cpu(), TransferOp::Copy, 1, kKiB, 20);
  s.memory = MemoryKind::Pinned;
  pinned.add(s, 0);
  EXPECT_TRUE(ui::overlay(r, pinned).curves.empty());
}

TEST(ReferenceResults, AreShownOnceForSeveralDevices) {
  const ReferenceResults r(reference_machine());
  MatmulResults kernels = ladder_here(cpu(0));
  for (const int n : {64, 128}) kernels.add(matmul_sample(cpu(1), "naive", n, 10), 0);
  const auto ladder = ui::overlay(r, kernels);
  ASSERT_EQ(ladder.curves.size(), 2U) << "naive and onednn";
  EXPECT_EQ(ladder.curves[0].here->device, cpu(0));
  TransferResults sweep = sweep_here(TransferOp::Copy, 1);
  sweep.add(transfer_sample(cpu(1), cpu(1), TransferOp::Copy, 1, kKiB, 20), 0);
  EXPECT_EQ(ui::overlay(r, sweep).curves.size(), 1U);
}

TEST(ReferenceResults, NameTheVersionsUsed) {
  ReferenceMachine m = reference_machine();
  EXPECT_EQ(ui::measured_with(m), "2026-01-31 with Device Lab 0.1.0");
  m.driver = "580.82";
  m.cuda = "13.0";
  EXPECT_EQ(ui::measured_with(m), "2026-01-31 with Device Lab 0.1.0, driver 580.82, CUDA 13.0");
}

}  // namespace
}  // namespace lab::test
