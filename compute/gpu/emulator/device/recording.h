#pragma once
// The recording of operations into a graph, by the rules of CUDA's stream capture.
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "compute/gpu/emulator/device/scheduler.h"

namespace lab::emulated {

// Per queue, the number of operations of the recording that come before a point in it.
using RecordedBefore = std::map<const Queue*, std::size_t>;

// Begins with one stream. Another stream joins by waiting for an event recorded in it, and must be
// waited for in turn before the recording ends. Used by one thread.
class Recording {
 public:
  explicit Recording(Device device, const std::shared_ptr<Queue>& origin);

  // The queue belongs to the recording. Throws Error(Cuda) if another thread adds.
  void add(const Queue& queue, Operation operation);
  RecordedBefore point_in(const Queue& queue) { return before_[&queue]; }
  // Work added to `queue` from now on comes after `point`. The queue joins if it is not part yet.
  void wait(const std::shared_ptr<Queue>& queue, const RecordedBefore& point);
  // Makes the recording useless and returns Error(Cuda): `call` broke `rule`.
  Error broken(const std::string& call, const std::string& rule);

  // Ends the recording in all of its streams. Throws the first broken rule.
  std::vector<Operation> end(const Queue& queue);
  void abandon();
  bool active() const { return active_; }

 private:
  Device device_;
  const Queue* origin_;
  std::thread::id thread_ = std::this_thread::get_id();
  std::vector<std::shared_ptr<Queue>> members_;
  std::vector<Operation> operations_;
  std::map<const Queue*, RecordedBefore> before_;
  std::string broken_;
  bool active_ = true;
};

}  // namespace lab::emulated
