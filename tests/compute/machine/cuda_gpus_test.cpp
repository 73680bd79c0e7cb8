#include "compute/machine/cuda_gpus.h"

#include <gtest/gtest.h>

#include "compute/core/units.h"
#include "tests/support/fake_gpu.h"

namespace lab {
namespace {

const std::string kSecondGpu = "0000:02:00.0";

GpuFacts unread_gpu(const std::string& pci_bus_id) {
  GpuFacts facts;
  facts.pci_bus_id = pci_bus_id;
  facts.unread = "NVML is not installed";
  facts.ecc = Maybe<bool>::missing(facts.unread);
  return facts;
}

TEST(CompleteFacts, CudaTellsWhatNvmlDidNot) {
  test::FakeBackend backend(2, kGiB);
  std::vector<GpuFacts> gpus = {unread_gpu(backend.gpu(0).facts().pci_bus_id)};
  complete_facts(gpus, &backend);
  const GpuFacts& facts = gpus[0];
  const GpuProperties& told = backend.gpu(0).facts();
  EXPECT_EQ(facts.sms.value_or(0), told.multiprocessors);
  EXPECT_EQ(facts.compute_capability.value_or(""),
            std::to_string(told.compute_major) + "." + std::to_string(told.compute_minor));
  EXPECT_EQ(facts.memory_total_bytes.value_or(0), kGiB);
  EXPECT_EQ(facts.sm_clock_max_mhz.value_or(0), told.clock_max_mhz);
  EXPECT_EQ(facts.cuda_version.value_or(""), "13.1");
  EXPECT_EQ(facts.runtime_version.value_or(""), "13.0");
  EXPECT_EQ(facts.ecc.reason(), "NVML is not installed") << "what neither tells keeps its reason";
  ASSERT_EQ(facts.peers.size(), 1U);
  EXPECT_EQ(facts.peers[0].pci_bus_id, kSecondGpu);
  EXPECT_TRUE(facts.peers[0].read && facts.peers[0].read->possible);
  EXPECT_FALSE(facts.peers[0].nvlink.reason().empty());
}

TEST(CompleteFacts, WhatNvmlToldStays) {
  test::FakeBackend backend(2, kGiB);
  std::vector<GpuFacts> gpus = {unread_gpu(backend.gpu(0).facts().pci_bus_id)};
  gpus[0].sms = 7;
  gpus[0].peers.push_back(
      {kSecondGpu, PeerAccess{false, "the chipset does not support it"}, {}, {}});
  complete_facts(gpus, &backend);
  EXPECT_EQ(gpus[0].sms.value_or(0), 7);
  ASSERT_EQ(gpus[0].peers.size(), 1U);
  EXPECT_FALSE(gpus[0].peers[0].read->possible);
}

TEST(CompleteFacts, NoAccessIsSaidWithItsReason) {
  test::FakeBackend backend(2, kGiB);
  backend.gpu(0).faults.no_peer_access = true;
  std::vector<GpuFacts> gpus = {unread_gpu(backend.gpu(0).facts().pci_bus_id)};
  complete_facts(gpus, &backend);
  ASSERT_EQ(gpus[0].peers.size(), 1U);
  ASSERT_TRUE(gpus[0].peers[0].read);
  EXPECT_FALSE(gpus[0].peers[0].read->possible);
  EXPECT_FALSE(gpus[0].peers[0].read->why_not.empty());
}

TEST(CompleteFacts, AGpuTheLabDoesNotUseHasNoRuntime) {
  std::vector<GpuFacts> gpus = {unread_gpu(kSecondGpu)};
  complete_facts(gpus, nullptr);
  EXPECT_EQ(gpus[0].runtime_version.reason(), "the lab does not compute on this GPU");
  EXPECT_FALSE(gpus[0].sms);
}

}  // namespace
}  // namespace lab
