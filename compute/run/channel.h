#pragma once
// Events on their way from the worker to whoever shows them: ordered, bounded, swapped under a
// lock.
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <stop_token>
#include <vector>

#include "compute/core/events/event.h"

namespace lab {

class Channel {
 public:
  // `wake` is called after a push, without the lock held, from the pushing thread.
  explicit Channel(std::function<void()> wake = {}, std::size_t capacity = 1 << 16);

  // Appends an event. A state (progress, telemetry, tensor list) replaces the waiting one of the
  // same kind and job; a result is never dropped: when `capacity` results wait unread, push waits
  // until they are drained, or until `stop` is requested or the channel is closed, and then drops
  // the event, because nobody will read it.
  void push(Event event, std::stop_token stop = {});

  // Everything that waits, in order; never blocks on a reader's or writer's work.
  std::vector<Event> drain();

  // Waits up to `seconds` for at least one event, then drains.
  std::vector<Event> wait_and_drain(double seconds);

  // Frees waiting writers for good; what was pushed can still be drained.
  void close();

 private:
  std::function<void()> wake_;
  const std::size_t capacity_;
  std::mutex mutex_;
  std::condition_variable_any drained_;
  std::condition_variable_any filled_;
  std::vector<Event> events_;
  bool closed_ = false;
};

}  // namespace lab
