#include "compute/gpu/emulator/device/scheduler.h"

#include <chrono>
#include <exception>
#include <thread>
#include <utility>

namespace lab::emulated {
namespace {

void run_on(GpuHealth& health, const Operation& operation) {
  if (!health.lost().empty() || operation.interruption.drops()) return;
  try {
    operation.run(operation.interruption);
  } catch (const std::exception& failure) {
    health.lose(operation.name, failure.what());
  }
}

bool may_run(const GpuHealth& health, const Operation& operation, bool waits) {
  while (operation.can_run && health.lost().empty() && !operation.interruption.drops() &&
         !operation.can_run()) {
    if (!waits) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

}  // namespace

bool Interruption::drop_if_stopped(State& state) {
  Choice choice = Choice::Open;
  if (state.stop.stop_requested()) {
    state.choice.compare_exchange_strong(choice, Choice::Drops);
  }
  return state.choice == Choice::Drops;
}

bool Interruption::drops() const {
  return state_ && drop_if_stopped(*state_);
}

bool Interruption::end() {
  if (!state_) return false;
  Choice choice = Choice::Open;
  if (!drop_if_stopped(*state_)) state_->choice.compare_exchange_strong(choice, Choice::Runs);
  return state_->choice == Choice::Drops;
}

std::shared_ptr<Queue> Scheduler::make_queue(GpuHealth& health) {
  auto queue = std::make_shared<Queue>(health);
  const std::lock_guard lock(mutex_);
  std::erase_if(queues_, [](const std::weak_ptr<Queue>& known) { return known.expired(); });
  queues_.push_back(queue);
  return queue;
}

void Scheduler::run_all(const GpuHealth* of) {
  std::vector<Position> ends;
  {
    const std::lock_guard lock(mutex_);
    for (const std::weak_ptr<Queue>& known : queues_) {
      auto queue = known.lock();
      if (!queue || (of != nullptr && of != &queue->health())) continue;
      const std::uint64_t end = queue->queued_;
      ends.push_back({std::move(queue), end});
    }
  }
  for (const Position& end : ends) run_until(end);
}

Position Scheduler::push(const std::shared_ptr<Queue>& queue, Operation operation, Position after) {
  std::uint64_t count = 0, least_finished = 0;
  {
    const std::lock_guard lock(mutex_);
    queue->entries_.push_back({std::move(operation), std::move(after)});
    count = ++queue->queued_;
    if (count - queue->finished_ > kMaxQueued) least_finished = count - kMaxQueued;
  }
  if (least_finished > 0) run_until({queue, least_finished});
  return {queue, count};
}

bool Scheduler::reached(const Position& position) {
  if (!position.queue) return true;
  const std::lock_guard lock(mutex_);
  return position.queue->finished_ >= position.count;
}

Position Scheduler::end_of(const std::shared_ptr<Queue>& queue) {
  const std::lock_guard lock(mutex_);
  return {queue, queue->queued_};
}

bool Scheduler::advance(const Position& position, bool waits) {
  if (!position.queue) return true;
  Queue& queue = *position.queue;
  std::unique_lock lock(mutex_);
  while (queue.finished_ < position.count) {
    if (queue.busy_ && waits) {
      changed_.wait(lock);
    } else if (queue.busy_ || !run_first(queue, lock, waits)) {
      return false;
    }
  }
  return true;
}

bool Scheduler::run_first(Queue& queue, std::unique_lock<std::mutex>& lock, bool waits) {
  queue.busy_ = true;
  const Queue::Entry& entry = queue.entries_.front();  // stays in place while others are queued
  lock.unlock();
  const bool runs = advance(entry.after, waits) && may_run(queue.health(), entry.operation, waits);
  if (runs) run_on(queue.health(), entry.operation);
  lock.lock();
  queue.busy_ = false;
  if (runs) {
    queue.entries_.pop_front();
    ++queue.finished_;
  }
  changed_.notify_all();
  return runs;
}

}  // namespace lab::emulated
