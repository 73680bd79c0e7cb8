// Transfers between two GPUs, and with one GPU only.
#include <gtest/gtest.h>

#include "compute/core/units.h"
#include "tests/compute/experiments/transfers/gpu_transfer.h"

namespace lab {
namespace {

using test::FakeBackend;
using test::kEngine;
using test::kKernel;
using test::Probe;
using GpuPeers = test::TransferOnGpu;

TEST_F(GpuPeers, CopiesBetweenGpusEveryWay) {
  StartTransfers r = request({gpu(0)}, {gpu(1)});
  r.sizes_bytes = {64 * kKiB};
  run(r);
  for (const TransferMover mover : {kEngine, kKernel}) {
    for (const PeerMode way : {PeerMode::Write, PeerMode::Read}) {
      EXPECT_EQ(samples(TransferOp::Copy, mover, MemoryKind::OnGpu, way).size(), 1U);
      EXPECT_EQ(samples(TransferOp::Both, mover, MemoryKind::OnGpu, way).size(), 1U);
    }
    EXPECT_EQ(samples(TransferOp::Pieces, mover, MemoryKind::OnGpu, PeerMode::Write).size(), 1U);
  }
  for (const PeerMode way : {PeerMode::WriteThroughHost, PeerMode::ReadThroughHost}) {
    EXPECT_EQ(samples(TransferOp::Copy, kEngine, MemoryKind::OnGpu, way).size(), 1U);
    EXPECT_TRUE(samples(TransferOp::Copy, kKernel, MemoryKind::OnGpu, way).empty());
  }
  EXPECT_EQ(samples(TransferOp::Chase, kKernel, MemoryKind::OnGpu, PeerMode::Read).size(), 1U);
  EXPECT_EQ(probe.all<TransferSample>().size(), 13U);
  for (const TransferSample& s : probe.all<TransferSample>()) EXPECT_TRUE(s.verified);
  EXPECT_NE(reason("copy cuda:0 -> cuda:1, kernel, write without peer access").find("peer access"),
            std::string::npos);
  expect_all_given_back();
}

TEST_F(GpuPeers, BothDirectionsTakeAsLongAsTheSlowerOne) {
  fake->gpu(1).costs.link_bytes_per_s = 10e9;
  fake->gpu(1).costs.memory_bytes_per_s = 1e12;
  StartTransfers r = request({gpu(0)}, {gpu(1)});
  r.ops = {TransferOp::Both};
  r.budget_s = 10;
  run(r);
  const test::FakeCosts slow = fake->gpu(1).costs;
  for (const PeerMode way : {PeerMode::Write, PeerMode::Read}) {
    for (const TransferSample& s : samples(TransferOp::Both, kEngine, MemoryKind::OnGpu, way)) {
      EXPECT_NEAR(s.time.median_s,
                  slow.call_s + static_cast<double>(s.bytes) / slow.link_bytes_per_s, 1e-9);
    }
    // Each GPU runs its own kernel, with all of its threads.
    for (const TransferSample& s : samples(TransferOp::Both, kKernel, MemoryKind::OnGpu, way)) {
      EXPECT_NEAR(s.time.median_s,
                  slow.call_s + 2 * static_cast<double>(s.bytes) / slow.memory_bytes_per_s, 1e-9);
    }
  }
  EXPECT_EQ(probe.all<TransferSample>().size(), 12U);
  expect_all_given_back();
}

TEST_F(GpuPeers, CopiesThroughTheHostWithoutPeerAccess) {
  fake->gpu(0).faults.no_peer_access = true;
  StartTransfers r = request({gpu(0)}, {gpu(1)});
  r.sizes_bytes = {64 * kKiB};
  r.ops = {TransferOp::Copy, TransferOp::Both};
  run(r);
  for (const char* what :
       {"copy cuda:0 -> cuda:1, copy engine, peer write",
        "both cuda:0 -> cuda:1, kernel, peer write",
        "both cuda:0 -> cuda:1, kernel, peer read"}) {  // one GPU reads in each direction
    EXPECT_EQ(reason(what), "cuda:0 cannot access the memory of cuda:1 directly");
  }
  EXPECT_EQ(samples(TransferOp::Copy, kEngine, MemoryKind::OnGpu, PeerMode::Read).size(), 1U);
  EXPECT_EQ(
      samples(TransferOp::Copy, kEngine, MemoryKind::OnGpu, PeerMode::WriteThroughHost).size(), 1U);
}

TEST_F(GpuPeers, OnlyCopiesThroughTheHostRemainWithoutAnyPeerAccess) {
  for (const int i : {0, 1}) fake->gpu(i).faults.no_peer_access = true;
  StartTransfers r = request({gpu(0)}, {gpu(1)});
  r.sizes_bytes = {64 * kKiB};
  run(r);
  EXPECT_EQ(probe.all<TransferSample>().size(), 2U);
  for (const TransferSample& s : probe.all<TransferSample>()) {
    EXPECT_TRUE(s.peer == PeerMode::WriteThroughHost || s.peer == PeerMode::ReadThroughHost);
    EXPECT_TRUE(s.verified);
  }
  EXPECT_EQ(reason("pieces cuda:0 -> cuda:1, copy engine, peer write"),
            "cuda:0 cannot access the memory of cuda:1 directly");
  EXPECT_EQ(reason("chase cuda:0 -> cuda:1, kernel, peer read"),
            "cuda:1 cannot access the memory of cuda:0 directly");
  expect_all_given_back();
}

TEST(OneGpu, IsNotAskedForCopiesToASecondOne) {
  Probe one{
      MachineOptions{.open_gpus = test::backend_opener(std::make_shared<FakeBackend>(1, kMiB))}};
  StartTransfers request;
  request.sizes_bytes = {kKiB};
  request.budget_s = 0.01;
  request.memory = {MemoryKind::Pinned};
  request.ops = {TransferOp::Copy, TransferOp::Chase};
  one.run(*make_transfer_experiment(request));
  EXPECT_FALSE(one.all<TransferSample>().empty());
  for (const Skipped& s : one.all<Skipped>()) {
    EXPECT_EQ(s.what.find("cuda:1"), std::string::npos) << s.what << ": " << s.reason;
    EXPECT_EQ(s.what.find("chase"), std::string::npos) << s.what << ": " << s.reason;
  }
}

TEST_F(GpuPeers, ReportsNoMissingGpuWithTwoGpus) {
  StartTransfers r = request({}, {});
  r.sizes_bytes = {kKiB};
  r.ops = {TransferOp::Chase};
  run(r);
  for (const Skipped& s : probe.all<Skipped>()) {
    EXPECT_EQ(s.what.find("GPU,"), std::string::npos) << s.what << ": " << s.reason;
  }
}

}  // namespace
}  // namespace lab
