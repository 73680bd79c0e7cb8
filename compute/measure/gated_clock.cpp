#include "compute/measure/gated_clock.h"

#include <algorithm>

#include "compute/core/error.h"
#include "compute/core/language.h"
#include "compute/measure/measure.h"

namespace lab {
namespace {

// Opens the gate on every exit path: a stream behind a closed gate never finishes.
class OpenAtEnd {
 public:
  explicit OpenAtEnd(GpuGate& gate) : gate_(gate) {}
  ~OpenAtEnd() { gate_.open(); }
  OpenAtEnd(const OpenAtEnd&) = delete;
  OpenAtEnd& operator=(const OpenAtEnd&) = delete;

 private:
  GpuGate& gate_;
};

}  // namespace

GatedClock::GatedClock(GpuDevice& gpu, int streams)
    : GatedClock(std::vector<GpuDevice*>(static_cast<std::size_t>(streams), &gpu)) {}

GatedClock::GatedClock(const std::vector<GpuDevice*>& gpus)
    : gpus_(gpus),
      begin_(gpus.front()->make_event()),
      gate_(gpus.front()->transfers().make_gate()) {
  for (GpuDevice* const gpu : gpus_) {
    // Loads the kernels on this GPU; behind another GPU's closed gate the load would block.
    if (gpu != gpus_.front()) gpu->transfers().make_gate();
    streams_.push_back(gpu->make_stream());
    ends_.push_back(gpu->make_event());
  }
}

GatedClock::~GatedClock() {
  gate_->open();
  try {
    for (auto stream = streams_.rbegin(); stream != streams_.rend(); ++stream) {
      (*stream)->synchronise();
    }
  } catch (const Error&) {
    // A lost GPU has already reported its error and runs nothing more.
  }
}

double GatedClock::gated(FunctionRef<void(int stream)> queue) {
  {
    const OpenAtEnd opened(*gate_);
    gate_->close(*streams_[0]);
    begin_->record(*streams_[0]);
    for (std::size_t i = 1; i < streams_.size(); ++i) streams_[i]->wait(*begin_);
    for (std::size_t i = 0; i < streams_.size(); ++i) {
      queue(static_cast<int>(i));
      ends_[i]->record(*streams_[i]);
    }
    // Event times of different GPUs are not comparable, so the first stream waits for the others.
    for (std::size_t i = 1; i < streams_.size(); ++i) {
      if (gpus_[i] == gpus_[0]) continue;
      streams_[0]->wait(*ends_[i]);
      ends_[0]->record(*streams_[0]);
    }
  }
  double seconds = 0;
  // In reverse order: the end of the first stream waits for the other GPUs, and a lost one throws
  // here.
  for (std::size_t i = streams_.size(); i-- > 0;) {
    streams_[i]->synchronise();
    if (gpus_[i] != gpus_[0]) continue;
    seconds = std::max(seconds, ends_[i]->seconds_since(*begin_));
  }
  if (gate_->timed_out()) {
    throw Error(Errc::Cuda,
                trf("{} waited too long for the host to queue work, so the measured time "
                    "is invalid; end other programs and measure again",
                    to_string(gpus_[0]->facts().device)));
  }
  return seconds;
}

double GatedClock::gated_runs(std::int64_t times, FunctionRef<void(GpuStream& stream)> queue_one) {
  return gated([&](int /*stream*/) {
    for (std::int64_t i = 0; i < times; ++i) queue_one(*streams_[0]);
  });
}

double GatedClock::by_host(FunctionRef<void(int stream)> queue) {
  const double begin = monotonic_s();
  queue(0);
  streams_[0]->synchronise();
  return monotonic_s() - begin;
}

}  // namespace lab
