#pragma once
// Ordered, bounded queue of events from the worker to their consumer, swapped under a lock.
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
  // `wake` is called after each push, from the pushing thread, without the lock held.
  explicit Channel(std::function<void()> wake = {}, std::size_t capacity = 1 << 16);

  // Appends an event. A state (progress, telemetry, tensor list) replaces a queued one of the same
  // kind and job. A result is never dropped while it can still be read: if `capacity` events are
  // queued, push() blocks until they are drained, `stop` is requested or the channel is closed; in
  // the latter two cases the event is dropped.
  void push(Event event, std::stop_token stop = {});

  // Removes and returns all queued events in order. Never blocks on the work of a reader or a
  // writer.
  std::vector<Event> drain();

  // Waits up to `seconds` for an event, then drains.
  std::vector<Event> wait_and_drain(double seconds);

  // Permanently unblocks waiting writers; queued events can still be drained.
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
