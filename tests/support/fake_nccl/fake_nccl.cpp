#include "tests/support/fake_nccl/fake_nccl.h"

#include <gtest/gtest.h>

#include <utility>

#include "compute/gpu/emulator/device/handles.h"

namespace lab::test {
namespace {

FakeNccl* g_current = nullptr;  // the functions of a library have no other context

}  // namespace

// The functions of the library.
struct FakeNcclCalls {
  static int comm_init_all(nccl::Communicator* communicators, int count, const int* devices) {
    FakeNccl& fake = *g_current;
    if (const int code = fake.result("ncclCommInitAll"); code != nccl::kSuccess) return code;
    const auto clique = std::make_shared<FakeNccl::Clique>();
    clique->ordinals.assign(devices, devices + count);
    for (int rank = 0; rank < count; ++rank) {
      EXPECT_LT(static_cast<std::size_t>(devices[rank]), fake.gpus_.size());
      const std::uintptr_t name = ++fake.made_;  // not 0, points nowhere
      communicators[rank] =
          reinterpret_cast<nccl::Communicator>(name);  // NOLINT(performance-no-int-to-ptr)
      fake.members_[communicators[rank]] = {clique, rank};
    }
    return nccl::kSuccess;
  }
  static int comm_destroy(nccl::Communicator communicator) {
    g_current->end_communicator(communicator);
    return nccl::kSuccess;
  }
  static int comm_abort(nccl::Communicator communicator) {
    const auto found = g_current->members_.find(communicator);
    if (found != g_current->members_.end()) found->second.clique->aborted = true;
    ++g_current->aborted_;
    g_current->end_communicator(communicator);
    return nccl::kSuccess;
  }
  static int comm_get_async_error(nccl::Communicator communicator, int* code) {
    EXPECT_TRUE(g_current->members_.contains(communicator));
    *code = g_current->async_error;
    return g_current->result("ncclCommGetAsyncError");
  }
  static int all_reduce(const void* from, void* to, std::size_t count, int data_type, int operation,
                        nccl::Communicator communicator, void* stream) {
    EXPECT_EQ(data_type, nccl::kFloat32);
    EXPECT_EQ(operation, nccl::kSum);
    EXPECT_GT(g_current->depth_, 0) << "one thread drives several GPUs: a group is needed";
    EXPECT_TRUE(g_current->members_.contains(communicator));
    g_current->group_.push_back({from, to, count, communicator, static_cast<GpuStream*>(stream)});
    return g_current->result("ncclAllReduce");
  }
  static int group_start() {
    const int code = g_current->result("ncclGroupStart");
    if (code == nccl::kSuccess) ++g_current->depth_;
    return code;
  }
  static int group_end() {
    EXPECT_GT(g_current->depth_, 0);
    if (--g_current->depth_ == 0) g_current->run_group();
    return g_current->result("ncclGroupEnd");
  }
  static const char* get_error_string(int code) {
    return code == nccl::kInvalidUsage ? "invalid usage" : "some other error";
  }
};

FakeNccl::FakeNccl(std::vector<GpuDevice*> gpus) : gpus_(std::move(gpus)) {
  EXPECT_EQ(g_current, nullptr);
  g_current = this;
}

FakeNccl::~FakeNccl() {
  EXPECT_TRUE(members_.empty()) << "communicators were neither destroyed nor aborted";
  EXPECT_EQ(depth_, 0) << "a group was not ended";
  g_current = nullptr;
}

nccl::Library FakeNccl::library() const {
  return {.version = "2.0.0",
          .comm_init_all = FakeNcclCalls::comm_init_all,
          .comm_destroy = FakeNcclCalls::comm_destroy,
          .comm_abort = FakeNcclCalls::comm_abort,
          .comm_get_async_error = FakeNcclCalls::comm_get_async_error,
          .all_reduce = FakeNcclCalls::all_reduce,
          .group_start = FakeNcclCalls::group_start,
          .group_end = FakeNcclCalls::group_end,
          .get_error_string = FakeNcclCalls::get_error_string};
}

int FakeNccl::result(const char* function) const {
  return fails == function ? nccl::kInvalidUsage : nccl::kSuccess;
}

void FakeNccl::end_communicator(nccl::Communicator communicator) {
  EXPECT_EQ(members_.erase(communicator), 1U) << "destroyed twice, or never made";
}

// A group with an error runs nothing.
void FakeNccl::run_group() {
  const std::vector<Call> calls = std::exchange(group_, {});
  if (!fails.empty() || calls.empty()) return;
  const std::shared_ptr<Clique> clique = members_.at(calls.front().communicator).clique;
  ASSERT_EQ(calls.size(), clique->ordinals.size()) << "some ranks do not take part";
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const Member& member = members_.at(calls[i].communicator);
    EXPECT_EQ(member.clique, clique);
    EXPECT_EQ(member.rank, static_cast<int>(i)) << "each rank takes part once";
    EXPECT_EQ(calls[i].count, calls.front().count);
    const int ordinal = clique->ordinals[i];
    EXPECT_EQ(emulated::raw(*calls[i].stream).core().device, emulated_gpu(ordinal));
  }
  ++sums_;
  queue_sum(calls, clique);
}

// The sum runs in the first stream once all streams have reached it; all go on when it is complete.
void FakeNccl::queue_sum(const std::vector<Call>& calls, const std::shared_ptr<Clique>& clique) {
  const auto event_in = [&](std::size_t i) {
    auto event = gpus_[static_cast<std::size_t>(clique->ordinals[i])]->make_event();
    event->record(*calls[i].stream);
    return event;
  };
  for (std::size_t i = 1; i < calls.size(); ++i) calls[0].stream->wait(*event_in(i));
  const auto sum = [calls, clique](const emulated::Interruption&) {
    if (clique->aborted) return;
    for (std::size_t k = 0; k < calls[0].count; ++k) {
      float total = static_cast<const float*>(calls[0].from)[k];
      for (std::size_t i = 1; i < calls.size(); ++i) {
        total += static_cast<const float*>(calls[i].from)[k];
      }
      for (const Call& call : calls) static_cast<float*>(call.to)[k] = total;
    }
  };
  emulated::Operation operation{"ncclAllReduce", sum};
  if (hangs) operation.can_run = [clique] { return clique->aborted.load(); };
  emulated::raw(*calls[0].stream).push(std::move(operation));
  const auto done = event_in(0);
  for (std::size_t i = 1; i < calls.size(); ++i) calls[i].stream->wait(*done);
}

}  // namespace lab::test
