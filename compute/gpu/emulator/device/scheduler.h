#pragma once
// The queues of all streams of the emulated GPUs, run by the host threads that wait for them.
//
// An operation starts after the earlier ones of its queue and after the position that it names. As
// a position is always queued before the operation that names it, threads that run different queues
// never wait for one another in a circle.
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

#include "compute/gpu/gpu_failures.h"

namespace lab::emulated {

class Queue;
class Recording;

// Whether operations are dropped, shared by all that may be. Thread-safe; copies share the state.
class Interruption {
 public:
  Interruption() = default;  // drops nothing
  explicit Interruption(std::stop_token stop) : state_(std::make_shared<State>(std::move(stop))) {}

  // Whether the operation that asks, or what is left of it, is dropped. All later ones then are.
  bool drops() const;
  // Decides for the operations that have not run: they are dropped if the stop has been requested,
  // otherwise they all run. Returns whether any are dropped.
  bool end();

 private:
  enum class Choice { Open, Runs, Drops };
  struct State {
    explicit State(std::stop_token token) : stop(std::move(token)) {}
    const std::stop_token stop;
    std::atomic<Choice> choice = Choice::Open;
  };
  static bool drop_if_stopped(State& state);

  std::shared_ptr<State> state_;
};

struct Operation {
  std::string name;
  std::function<void(const Interruption&)> run;  // an exception ends the GPU's context
  // Work that waits for something outside of its stream, as NCCL's kernels do, may run once this
  // returns true. Empty: at once. Not called for recorded work.
  std::function<bool()> can_run = {};
  Interruption interruption = {};
};

// Reached once `queue` has finished its first `count` operations.
struct Position {
  std::shared_ptr<Queue> queue;
  std::uint64_t count = 0;
};

// The work of one stream.
class Queue {
 public:
  explicit Queue(GpuHealth& health) : health_(health) {}
  GpuHealth& health() const { return health_; }

  // Receives the stream's operations while it is recorded; for the thread that uses the stream.
  std::shared_ptr<Recording> recording;

 private:
  friend class Scheduler;
  struct Entry {
    Operation operation;
    Position after;  // without a queue: none
  };
  GpuHealth& health_;
  std::deque<Entry> entries_;
  std::uint64_t queued_ = 0, finished_ = 0;
  bool busy_ = false;  // a thread runs its first operation
};

// Thread-safe.
class Scheduler {
 public:
  // As with a GPU's driver, queueing waits while this number of operations is queued.
  static constexpr std::uint64_t kMaxQueued = 1024;

  // `health` must outlive the queue's last operation.
  std::shared_ptr<Queue> make_queue(GpuHealth& health);
  // Queues the operation and returns the position after it.
  Position push(const std::shared_ptr<Queue>& queue, Operation operation, Position after = {});
  bool reached(const Position& position);
  // Runs what is needed to reach the position. Operations of a lost GPU are dropped.
  void run_until(const Position& position) { advance(position, /*waits=*/true); }
  // Likewise, but ends where an operation may not run yet or another thread runs it.
  void run_towards(const Position& position) { advance(position, /*waits=*/false); }
  // The position after all queued operations.
  Position end_of(const std::shared_ptr<Queue>& queue);
  // Runs what is queued now on all queues, or on those of one GPU.
  void run_all(const GpuHealth* of = nullptr);

 private:
  // Return whether the position is reached, or the operation has run.
  bool advance(const Position& position, bool waits);
  bool run_first(Queue& queue, std::unique_lock<std::mutex>& lock, bool waits);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::weak_ptr<Queue>> queues_;
};

}  // namespace lab::emulated
