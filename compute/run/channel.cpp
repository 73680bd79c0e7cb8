#include "compute/run/channel.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace lab {
namespace {

bool is_state(const Payload& p) {
  return std::holds_alternative<Progress>(p) || std::holds_alternative<Telemetry>(p) ||
         std::holds_alternative<TensorList>(p);
}

}  // namespace

Channel::Channel(std::function<void()> wake, std::size_t capacity)
    : wake_(std::move(wake)), capacity_(capacity) {}

void Channel::push(Event event, std::stop_token stop) {
  {
    std::unique_lock lock(mutex_);
    if (is_state(event.payload)) {
      const auto same = std::find_if(events_.begin(), events_.end(), [&](const Event& e) {
        return e.job == event.job && e.payload.index() == event.payload.index();
      });
      if (same != events_.end()) events_.erase(same);
    } else {
      const auto room = [this] { return closed_ || events_.size() < capacity_; };
      if (stop.stop_possible()) {
        if (!drained_.wait(lock, stop, room)) return;
      } else {
        drained_.wait(lock, room);
      }
      if (closed_ && events_.size() >= capacity_) return;
    }
    events_.push_back(std::move(event));
  }
  filled_.notify_one();
  if (wake_) wake_();
}

std::vector<Event> Channel::drain() {
  std::vector<Event> events;
  {
    const std::lock_guard lock(mutex_);
    events.swap(events_);
  }
  drained_.notify_all();
  return events;
}

std::vector<Event> Channel::wait_and_drain(double seconds) {
  {
    std::unique_lock lock(mutex_);
    filled_.wait_for(lock, std::chrono::duration<double>(seconds),
                     [this] { return closed_ || !events_.empty(); });
  }
  return drain();
}

void Channel::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  drained_.notify_all();
  filled_.notify_all();
}

}  // namespace lab
