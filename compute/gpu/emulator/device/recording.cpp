#include "compute/gpu/emulator/device/recording.h"

#include <algorithm>
#include <utility>

namespace lab::emulated {

Recording::Recording(Device device, const std::shared_ptr<Queue>& origin)
    : device_(device), origin_(origin.get()), members_{origin} {
  before_[origin_];
}

Error Recording::broken(const std::string& call, const std::string& rule) {
  Error error = gpu_failure(device_, call, "cudaErrorStreamCaptureInvalidated (" + rule + ")");
  if (broken_.empty()) broken_ = error.what();
  return error;
}

void Recording::add(const Queue& queue, Operation operation) {
  if (std::this_thread::get_id() != thread_) {
    throw broken(operation.name, "only the thread that began a recording may add to it");
  }
  operations_.push_back(std::move(operation));
  before_[&queue][&queue] = operations_.size();
}

void Recording::wait(const std::shared_ptr<Queue>& queue, const RecordedBefore& point) {
  if (!queue->recording) {
    queue->recording = members_.front()->recording;
    members_.push_back(queue);
  }
  RecordedBefore& mine = before_[queue.get()];
  for (const auto& [other, count] : point) mine[other] = std::max(mine[other], count);
}

std::vector<Operation> Recording::end(const Queue& queue) {
  if (&queue != origin_) {
    throw broken("end_recording", "a recording ends in the stream in which it began");
  }
  const RecordedBefore& joined = before_[origin_];
  for (const auto& [other, point] : before_) {
    const auto own = point.find(other);
    const auto known = joined.find(other);
    if (other == origin_ || own == point.end()) continue;
    if (known == joined.end() || known->second < own->second) {
      broken("end_recording", "the stream must wait for all streams that joined the recording");
    }
  }
  abandon();
  if (!broken_.empty()) throw Error(Errc::Cuda, broken_);
  return std::move(operations_);
}

void Recording::abandon() {
  active_ = false;
  const auto members = std::move(members_);
  for (const auto& member : members) member->recording.reset();
}

}  // namespace lab::emulated
