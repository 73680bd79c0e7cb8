#include "tests/support/fake_nccl/fake_nccl.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <utility>

namespace lab::test {
namespace {

FakeNccl* g_current = nullptr;  // the functions of a library have no other context

constexpr const char* kNotLive = "not a live communicator";

struct Misuse : std::runtime_error {
  using std::runtime_error::runtime_error;
};

void require(bool condition, const char* problem) {
  if (!condition) throw Misuse(problem);
}

bool overlap(const void* a, const void* b, std::int64_t bytes) {
  const auto* const x = static_cast<const std::byte*>(a);
  const auto* const y = static_cast<const std::byte*>(b);
  return x < y + bytes && y < x + bytes;
}

}  // namespace

// The functions of the library.
struct FakeNcclCalls {
  // `body` gets whether the call is to fail. A misuse fails the test, and the call.
  template <class Body>
  static int call(const char* function, const Body& body) {
    FakeNccl& fake = *g_current;
    bool fails = fake.fails == function;
    try {
      body(fake, fails);
    } catch (const Misuse& misuse) {
      ADD_FAILURE() << function << ": " << misuse.what();
      fails = true;
    }
    if (fails && fake.depth_ > 0) fake.group_failed_ = true;
    return fails ? nccl::kInvalidUsage : nccl::kSuccess;
  }

  static int comm_init_all(nccl::Communicator* communicators, int count, const int* devices) {
    return call("ncclCommInitAll", [&](FakeNccl& fake, const bool& fails) {
      const auto clique = std::make_shared<FakeNccl::Clique>();
      clique->ordinals.assign(devices, devices + count);
      for (const int ordinal : clique->ordinals) {
        require(static_cast<std::size_t>(ordinal) < fake.gpus_.size(), "no such GPU");
      }
      const std::set<int> different(devices, devices + count);
      require(different.size() == clique->ordinals.size(), "two ranks on one GPU");
      if (fails) return;
      for (int rank = 0; rank < count; ++rank) {
        const std::uintptr_t name = ++fake.made_;  // not 0, points nowhere
        communicators[rank] =
            reinterpret_cast<nccl::Communicator>(name);  // NOLINT(performance-no-int-to-ptr)
        fake.members_[communicators[rank]] = {clique, rank};
      }
    });
  }
  static int comm_destroy(nccl::Communicator communicator) {
    return call("ncclCommDestroy", [&](FakeNccl& fake, const bool& /*fails*/) {
      const FakeNccl::Member& member = fake.live(communicator);
      require(!fake.has_failed(*member.clique), "after an error, ncclCommAbort is needed");
      require(!fake.is_used(communicator, member), "a sum is queued or running");
      fake.members_.erase(communicator);
    });
  }
  static int comm_abort(nccl::Communicator communicator) {
    return call("ncclCommAbort", [&](FakeNccl& fake, const bool& /*fails*/) {
      const auto found = fake.members_.find(communicator);
      require(found != fake.members_.end(), kNotLive);
      require(!fake.in_open_group(communicator), "an open group uses it");
      found->second.clique->aborted = true;
      fake.members_.erase(found);
      ++fake.aborted_;
    });
  }
  static int comm_get_async_error(nccl::Communicator communicator, int* code) {
    return call("ncclCommGetAsyncError", [&](FakeNccl& fake, const bool& /*fails*/) {
      FakeNccl::Clique& clique = *fake.live(communicator).clique;
      *code = fake.async_error;
      if (*code != nccl::kSuccess && *code != nccl::kInProgress) clique.sum_failed = true;
    });
  }
  static int all_reduce(const void* from, void* to, std::size_t count, int data_type, int operation,
                        nccl::Communicator communicator, void* stream) {
    return call("ncclAllReduce", [&](FakeNccl& fake, const bool& fails) {
      const FakeNccl::Member& member = fake.live(communicator);
      require(fake.depth_ > 0, "one thread drives several GPUs: a group is needed");
      require(!member.clique->call_failed && !member.clique->sum_failed,
              "the communicator has reported an error");
      require(data_type == nccl::kFloat32 && operation == nccl::kSum, "not a sum of FP32 values");
      emulated::Core& core = fake.core_of(member);
      const FakeNccl::Part part{
          from, to, count, communicator, static_cast<GpuStream*>(stream), &core.memory};
      fake.check_part(part, core);
      if (fails) {
        member.clique->call_failed = true;
      } else {
        fake.group_.push_back(part);
      }
    });
  }
  static int group_start() {
    return call("ncclGroupStart", [](FakeNccl& fake, const bool& fails) {
      require(!fake.group_failed_, "a call of the group has failed");
      if (!fails) ++fake.depth_;
    });
  }
  static int group_end() {
    return call("ncclGroupEnd", [](FakeNccl& fake, bool& fails) {
      require(fake.depth_ > 0, "no group was started");
      if (--fake.depth_ > 0) return;
      fails = std::exchange(fake.group_failed_, false) || fails;
      fake.end_group(fails);
    });
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

FakeNccl::Member& FakeNccl::live(nccl::Communicator communicator) {
  require(!group_failed_, "a call of the group has failed: end the group");
  const auto found = members_.find(communicator);
  require(found != members_.end(), kNotLive);
  return found->second;
}

emulated::Core& FakeNccl::core_of(const Member& member) const {
  const int ordinal = member.clique->ordinals[static_cast<std::size_t>(member.rank)];
  return emulated::raw(gpus_[static_cast<std::size_t>(ordinal)]->main_stream()).core();
}

bool FakeNccl::in_open_group(nccl::Communicator communicator) const {
  return std::ranges::find(group_, communicator, &Part::communicator) != group_.end();
}

// By a call of the open group, or by a sum that has not run.
bool FakeNccl::is_used(nccl::Communicator communicator, const Member& member) const {
  emulated::Scheduler& scheduler = core_of(member).scheduler;
  const auto reached = [&](const emulated::Position& end) { return scheduler.reached(end); };
  return in_open_group(communicator) || !std::ranges::all_of(member.sums, reached);
}

// The sums of a lost GPU never complete.
bool FakeNccl::has_failed(const Clique& clique) const {
  return clique.sum_failed || std::ranges::any_of(clique.ordinals, [&](int ordinal) {
           return !gpus_[static_cast<std::size_t>(ordinal)]->lost().empty();
         });
}

bool FakeNccl::Part::is_allocated() const {
  return memory->allocated(from, bytes()) && memory->allocated(to, bytes());
}

// The buffers of different ranks are apart, since each is in the memory of its own GPU.
void FakeNccl::check_part(const Part& part, const emulated::Core& core) const {
  require(part.stream != nullptr, "no stream");
  require(&emulated::raw(*part.stream).core() == &core, "the stream belongs to another GPU");
  for (const void* const buffer : {part.from, static_cast<const void*>(part.to)}) {
    require(core.memory.usable(buffer, part.bytes()),
            "a buffer is not within one allocation of the rank's GPU");
  }
  require(part.from == part.to || !overlap(part.from, part.to, part.bytes()),
          "the result overlaps the operand");
}

// A group with an error runs nothing.
void FakeNccl::end_group(bool failed) {
  const std::vector<Part> parts = std::exchange(group_, {});
  if (failed) {
    for (const Part& part : parts) members_.at(part.communicator).clique->call_failed = true;
    return;
  }
  if (parts.empty()) return;
  const std::shared_ptr<Clique> clique = members_.at(parts.front().communicator).clique;
  require(parts.size() == clique->ordinals.size(), "some ranks do not take part");
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Member& member = members_.at(parts[i].communicator);
    require(member.clique == clique, "communicators that were not made together");
    require(member.rank == static_cast<int>(i), "each rank takes part once, in their order");
    require(parts[i].count == parts.front().count, "the counts differ");
  }
  ++sums_;
  queue_sum(parts, clique);
  for (const Part& part : parts) remember_sum(part);
}

// The sum runs in the first stream once all streams have reached it; all go on when it is complete.
void FakeNccl::queue_sum(const std::vector<Part>& parts, const std::shared_ptr<Clique>& clique) {
  const auto event_in = [&](std::size_t i) {
    auto event = gpus_[static_cast<std::size_t>(clique->ordinals[i])]->make_event();
    event->record(*parts[i].stream);
    return event;
  };
  for (std::size_t i = 1; i < parts.size(); ++i) parts[0].stream->wait(*event_in(i));
  const auto sum = [parts, clique](const emulated::Interruption&) {
    if (clique->aborted) return;
    if (!std::ranges::all_of(parts, &Part::is_allocated)) {
      ADD_FAILURE() << "ncclAllReduce: a buffer was released before the sum ran";
      return;
    }
    for (std::size_t k = 0; k < parts[0].count; ++k) {
      float total = static_cast<const float*>(parts[0].from)[k];
      for (std::size_t i = 1; i < parts.size(); ++i) {
        total += static_cast<const float*>(parts[i].from)[k];
      }
      for (const Part& part : parts) static_cast<float*>(part.to)[k] = total;
    }
  };
  emulated::Operation operation{"ncclAllReduce", sum};
  if (hangs) operation.can_run = [clique] { return clique->aborted.load(); };
  emulated::raw(*parts[0].stream).push(std::move(operation));
  const auto done = event_in(0);
  for (std::size_t i = 1; i < parts.size(); ++i) parts[i].stream->wait(*done);
}

void FakeNccl::remember_sum(const Part& part) {
  emulated::EmulatedStream& stream = emulated::raw(*part.stream);
  emulated::Scheduler& scheduler = stream.core().scheduler;
  std::vector<emulated::Position>& sums = members_.at(part.communicator).sums;
  std::erase_if(sums, [&](const emulated::Position& end) { return scheduler.reached(end); });
  sums.push_back(scheduler.end_of(stream.queue()));
}

}  // namespace lab::test
