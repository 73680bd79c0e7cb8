// Every transfer case on real GPUs. Each case verifies its data before and after timing; these
// tests check that all cases are present and their results are physically possible.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <string>

#include "compute/core/units.h"
#include "compute/experiments/transfers/transfer_experiment.h"
#include "compute/experiments/transfers/transfer_memory.h"
#include "compute/gpu/gpu_transfers.h"
#include "compute/measure/gated_clock.h"
#include "compute/run/run_context.h"
#include "compute/tensor/tensor_store.h"
#include "tests/gpu/gpu_machine.h"
#include "tests/support/element_counts.h"

namespace lab {
namespace {

using test::gpu_machine;

StartTransfers request(std::vector<Device> devices) {
  StartTransfers r;
  r.from = r.to = std::move(devices);
  r.sizes_bytes = {kKiB, 64 * kKiB, 4 * kMiB, 64 * kMiB};
  r.budget_s = 0.1;
  r.all_threads = false;
  return r;
}

std::vector<Event> events_of(const StartTransfers& r) {
  TensorStore tensors;
  Channel channel;
  RunControl control;
  RunContext ctx(1, gpu_machine(), tensors, channel, control, {});
  make_transfer_experiment(r)->run(ctx);
  return channel.drain();
}

template <typename T>
std::vector<T> all(const std::vector<Event>& events) {
  std::vector<T> found;
  for (const Event& e : events) {
    if (const T* p = std::get_if<T>(&e.payload)) found.push_back(*p);
  }
  return found;
}

TransferMemory on_gpu(std::int64_t bytes) {
  DeviceContext& gpu = gpu_machine().at(lab::gpu());
  return {gpu, MemoryKind::OnGpu, *gpu.gpu(), bytes, {}};
}

TEST(GpuTransfer, FillsAndComparesPatterns) {
  LAB_REQUIRE_GPU();
  for (const std::int64_t words : test::counts_with({1 << 20, (1 << 24) + 3})) {
    SCOPED_TRACE(words);
    TransferMemory memory = on_gpu(4 * words);
    memory.fill(7);
    EXPECT_EQ(memory.count_mismatches(7), 0);
    EXPECT_GE(memory.count_mismatches(8), words - 1 - words / 1000);
  }
}

TEST(GpuTransfer, KernelCopiesEveryWord) {
  LAB_REQUIRE_GPU();
  GpuDevice& gpu = *gpu_machine().at(lab::gpu()).gpu();
  for (const std::int64_t words : test::counts_with({1 << 20, (1 << 24) + 3})) {
    SCOPED_TRACE(words);
    TransferMemory from = on_gpu(4 * words), to = on_gpu(4 * words);
    from.fill(1);
    to.fill(2);
    gpu.transfers().copy_by_kernel(to.words(), from.words(), words, 1, gpu.main_stream());
    gpu.main_stream().synchronise();
    EXPECT_EQ(to.count_mismatches(1), 0);
    to.fill(2);
    gpu.transfers().copy_by_kernel(to.words(), from.words(), words, 2, gpu.main_stream());
    gpu.main_stream().synchronise();
    EXPECT_EQ(to.count_mismatches(1), 0) << "with half of the GPU";
  }
}

TEST(GpuTransfer, GateHoldsUntilOpened) {
  LAB_REQUIRE_GPU();
  GpuDevice& gpu = *gpu_machine().at(lab::gpu()).gpu();
  const auto gate = gpu.transfers().make_gate();
  const auto stream = gpu.make_stream();
  const auto event = gpu.make_event();
  gate->close(*stream);
  event->record(*stream);
  EXPECT_FALSE(event->done());
  gate->open();
  stream->synchronise();
  EXPECT_TRUE(event->done());
  EXPECT_FALSE(gate->timed_out());
}

TEST(GpuTransfer, GateTimesOut) {
  LAB_REQUIRE_GPU();
  GpuDevice& gpu = *gpu_machine().at(lab::gpu()).gpu();
  const auto gate = gpu.transfers().make_gate();
  const auto stream = gpu.make_stream();
  gate->close(*stream);
  stream->synchronise();
  EXPECT_TRUE(gate->timed_out());
}

TEST(GpuTransfer, RunsEveryCaseOnOneGpu) {
  LAB_REQUIRE_GPU();
  const std::vector<Event> events = events_of(request({cpu(), gpu()}));
  const double total_gb =
      static_cast<double>(gpu_machine().at(gpu()).gpu()->facts().memory_bytes) * 1e-9;
  int with_gpu = 0;
  for (const TransferSample& s : all<TransferSample>(events)) {
    SCOPED_TRACE(::testing::Message()
                 << to_string(s.op) << ' ' << to_string(s.from) << ' ' << to_string(s.to) << ' '
                 << to_string(s.memory) << ' ' << s.bytes);
    EXPECT_TRUE(s.verified);
    EXPECT_GT(s.time.median_s, 0);
    EXPECT_LT(s.gb_per_s, 1000 * total_gb);
    with_gpu += s.mover != TransferMover::Threads ? 1 : 0;
  }
  // Series: 9 to the GPU, 6 from it, 5 within it; four sizes each.
  EXPECT_EQ(with_gpu, 4 * 20);
  EXPECT_EQ(all<TransferTimeline>(events).size(), 1U);
  EXPECT_EQ(all<TransferPayoff>(events).size(), 6U);
}

TEST(GpuTransfer, CopiesOverlapWithTheKernel) {
  LAB_REQUIRE_GPU();
  StartTransfers r = request({gpu()});
  r.from = {cpu()};
  r.ops = {TransferOp::Overlap};
  const auto timelines = all<TransferTimeline>(events_of(r));
  ASSERT_EQ(timelines.size(), 1U);
  EXPECT_EQ(timelines[0].spans.size(), 12U);
  EXPECT_EQ(timelines[0].runs, 5);
  EXPECT_LT(timelines[0].overlapped_s, timelines[0].serial_s);
}

TEST(GpuTransfer, RunsEveryPathBetweenTwoGpus) {
  LAB_REQUIRE_GPUS(2);
  StartTransfers r = request({gpu(0)});
  r.to = {gpu(1)};
  const std::vector<Event> events = events_of(r);
  std::set<std::string> verified;
  for (const TransferSample& s : all<TransferSample>(events)) {
    EXPECT_TRUE(s.verified);
    if (s.verified) {
      verified.insert(std::string(to_string(s.op)) + ", " + moved_by(s.mover, s.peer, 1));
    }
  }
  std::set<std::string> expected = {"copy, copy engine, write without peer access",
                                    "copy, copy engine, read without peer access"};
  GpuDevice& first = *gpu_machine().at(gpu(0)).gpu();
  GpuDevice& second = *gpu_machine().at(gpu(1)).gpu();
  const bool writes = first.can_access(second), reads = second.can_access(first);
  for (const std::string mover : {"copy engine", "kernel"}) {
    if (writes)
      expected.insert({"copy, " + mover + ", peer write", "pieces, " + mover + ", peer write"});
    if (reads) expected.insert("copy, " + mover + ", peer read");
    if (writes && reads) {
      expected.insert({"both, " + mover + ", peer write", "both, " + mover + ", peer read"});
    }
  }
  if (reads) expected.insert("chase, kernel, peer read");
  EXPECT_EQ(verified, expected);
}

}  // namespace
}  // namespace lab
