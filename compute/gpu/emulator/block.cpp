#include "compute/gpu/emulator/block.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace lab::simt {
namespace {

// Kernel code accesses its block through free functions, as in CUDA.
thread_local Block* block_of_this_thread = nullptr;

class CurrentBlock {
 public:
  explicit CurrentBlock(Block& block) { block_of_this_thread = &block; }
  ~CurrentBlock() { block_of_this_thread = nullptr; }
  CurrentBlock(const CurrentBlock&) = delete;
  CurrentBlock& operator=(const CurrentBlock&) = delete;
};

std::string name_of(const SimtThread& thread) {
  return "thread " + std::to_string(thread.time.thread) + " " + to_string(thread.index);
}

// Describes where a thread waits, for the deadlock report.
std::string state_of(const SimtThread& thread) {
  switch (thread.state) {
    case SimtThread::State::Ready: return "runs";
    case SimtThread::State::AtBarrier: return "at sync_threads, " + to_string(thread.barrier);
    case SimtThread::State::AtPhase: return "at barrier_wait, " + to_string(thread.barrier);
    case SimtThread::State::InWarpOperation:
      return std::string("in ") + thread.request.name + ", " + to_string(thread.request.where);
    case SimtThread::State::Left: return "left the kernel";
  }
  return {};
}

}  // namespace

Fiber& FiberPool::take() {
  if (free_.empty()) {
    all_.push_back(std::make_unique<Fiber>());
    free_.push_back(all_.back().get());
  }
  Fiber& fiber = *free_.back();
  free_.pop_back();
  return fiber;
}

Block& current_block() {
  if (block_of_this_thread == nullptr)
    throw std::logic_error("simt: a device function was called outside launch()");
  return *block_of_this_thread;
}

void WarpGroup::require_all(const char* name) const {
  if (active_ == ~std::uint32_t{0}) return;
  throw Fault(FaultKind::InactiveLane,
              std::string(name) + " needs all 32 lanes of the warp; some are missing");
}

Block::Block(const LaunchOptions& options, Index3 index, SharedMemory& shared, GlobalMemory& global,
             FiberPool& fibers)
    : options_(options),
      index_(index),
      shared_(shared),
      global_(global),
      fibers_(fibers),
      threads_(static_cast<std::size_t>(options.block.count())) {
  for (std::size_t i = 0; i < threads_.size(); ++i) {
    SimtThread& t = threads_[i];
    t.index = options.block.at(static_cast<long long>(i));
    t.time.thread = static_cast<int>(i);
    t.time.seen[static_cast<std::size_t>(t.time.lane())] = 1;
  }
}

void Block::run(const std::function<void()>& body) {
  const CurrentBlock here(*this);
  for (SimtThread& t : threads_) {
    t.entry = [this, &t, &body] { thread_main(t, body); };
  }
  while (!failure_ && run_ready_threads()) {
  }
  if (failure_) cancel();
  if (failure_) std::rethrow_exception(failure_);
}

// Entry function of a fiber; exceptions must not escape from it.
void Block::thread_main(SimtThread& thread, const std::function<void()>& body) {
  try {
    body();
  } catch (const Cancelled&) {
  } catch (const Fault& fault) {
    fail(&thread, fault.kind(), fault.what());
  } catch (...) {
    if (!failure_) failure_ = std::current_exception();
  }
  thread.state = SimtThread::State::Left;
}

void Block::enter(SimtThread& thread) {
  if (thread.fiber == nullptr) {
    thread.fiber = &fibers_.take();
    thread.fiber->start(thread.entry);
  }
  running_ = &thread;
  thread.fiber->resume();
  running_ = nullptr;
  if (thread.state == SimtThread::State::Left) {
    fibers_.give_back(*std::exchange(thread.fiber, nullptr));
  }
}

// Runs every ready thread once. Opens the barrier if none is ready; returns false after all have
// left.
bool Block::run_ready_threads() {
  bool ran = false;
  const std::size_t n = threads_.size();
  for (std::size_t i = 0; i < n && !failure_; ++i) {
    SimtThread& t = threads_[options_.last_thread_first ? n - 1 - i : i];
    if (t.state != SimtThread::State::Ready) continue;
    ran = true;
    enter(t);
    if (t.state == SimtThread::State::Left && !failure_) after_leaving(t);
  }
  if (ran || failure_) return true;
  const bool all_left = std::all_of(threads_.begin(), threads_.end(), [](const SimtThread& t) {
    return t.state == SimtThread::State::Left;
  });
  if (all_left) return false;
  open_barrier();
  return true;
}

// Called when no thread can run: either all are at one barrier, or this is a fault.
void Block::open_barrier() {
  const SimtThread& first = threads_.front();
  const bool all_there = std::all_of(threads_.begin(), threads_.end(), [](const SimtThread& t) {
    return t.state == SimtThread::State::AtBarrier;
  });
  if (!all_there)
    return fail(nullptr, FaultKind::Deadlock, "threads wait for one another: " + waiting());
  for (const SimtThread& t : threads_) {
    if (t.barrier == first.barrier) continue;
    return fail(nullptr, FaultKind::DivergentBarrier,
                "threads of one block at different barriers: " + waiting());
  }
  for (SimtThread& t : threads_) {
    ++t.time.epoch;
    t.state = SimtThread::State::Ready;
  }
}

// Unwinds every fiber that has not ended.
void Block::cancel() {
  cancelled_ = true;
  for (SimtThread& t : threads_) {
    if (t.fiber != nullptr) enter(t);
  }
}

void Block::wait(SimtThread::State state) {
  SimtThread& me = self();
  me.state = state;
  me.fiber->yield();
  if (cancelled_) throw Cancelled();
}

void Block::fail(const SimtThread* thread, FaultKind kind, const std::string& what) {
  if (failure_) return;
  std::string where = ", in block " + to_string(index_);
  if (thread != nullptr) where += ", " + name_of(*thread);
  failure_ = std::make_exception_ptr(Fault(kind, what + where));
}

std::uint32_t Block::thread_of_launch() const {
  const Extent& grid = options_.grid;
  const long long block = index_.x + 1LL * grid.x * (index_.y + 1LL * grid.y * index_.z);
  return static_cast<std::uint32_t>(block * options_.block.count() + running_->time.thread);
}

void Block::sync_threads(const Where& where) {
  self().barrier = where;
  wait(SimtThread::State::AtBarrier);
}

void Block::wait_for_phase(const PhaseBarrier& barrier, int parity, const Where& where) {
  while (!barrier.has_ended(parity)) {
    self().barrier = where;
    wait(SimtThread::State::AtPhase);
  }
}

void Block::end_phase(PhaseBarrier& barrier) {
  if (barrier.missing > 0 || barrier.expected_bytes != 0) return;
  for (const BoxPiece& piece : barrier.pieces) {
    piece.array->arrive({piece.offset, piece.bytes.size(), piece.bytes.size(), 4},
                        piece.bytes.data());
  }
  barrier.pieces.clear();
  barrier.missing = barrier.arrivals;
  ++barrier.ended_phases;
  for (SimtThread& t : threads_) {
    if (t.state == SimtThread::State::AtPhase) t.state = SimtThread::State::Ready;
  }
}

std::span<SimtThread> Block::warp_of(const SimtThread& thread) {
  const std::size_t first = static_cast<std::size_t>(thread.time.warp()) * kWarpLanes;
  return std::span(threads_).subspan(first,
                                     std::min<std::size_t>(kWarpLanes, threads_.size() - first));
}

const WarpRequest& Block::meet(const WarpRequest& request) {
  SimtThread& me = self();
  if ((request.mask >> me.time.lane() & 1) == 0) {
    throw Fault(FaultKind::InactiveLane, std::string(request.name) +
                                             ": the mask lacks the calling lane, " +
                                             std::to_string(me.time.lane()));
  }
  me.request = request;
  me.state = SimtThread::State::InWarpOperation;
  try_operation(me);
  if (me.state == SimtThread::State::InWarpOperation) wait(SimtThread::State::InWarpOperation);
  return me.request;
}

// Executes the operation that `leader` waits in once all lanes of its mask that are still in the
// kernel have reached it.
void Block::try_operation(const SimtThread& leader) {
  const std::span<SimtThread> warp = warp_of(leader);
  std::uint32_t active = 0;
  for (const SimtThread& t : warp) {
    const std::uint32_t bit = std::uint32_t{1} << t.time.lane();
    if ((leader.request.mask & bit) == 0 || t.state == SimtThread::State::Left) continue;
    if (t.state != SimtThread::State::InWarpOperation ||
        t.request.operation != leader.request.operation || t.request.mask != leader.request.mask)
      return;
    active |= bit;
  }
  WarpGroup group(warp, active);
  leader.request.operation(group);
  group.each([&](int lane) { group.thread(lane).state = SimtThread::State::Ready; });
}

// Lanes may have been waiting only for the one that left.
void Block::after_leaving(const SimtThread& left) {
  for (const SimtThread& t : warp_of(left)) {
    if (t.state != SimtThread::State::InWarpOperation) continue;
    try {
      try_operation(t);
    } catch (const Fault& fault) {
      return fail(&t, fault.kind(), fault.what());
    }
  }
}

// Returns, for example, "threads 0-31 at sync_threads, k.cuh:7; thread 32 left the kernel", with up
// to eight such parts.
std::string Block::waiting() const {
  constexpr int kMaxParts = 8;
  std::string text;
  int parts = 0;
  for (std::size_t first = 0; first < threads_.size(); ++parts) {
    if (parts == kMaxParts) return text + "; ...";
    const std::string state = state_of(threads_[first]);
    std::size_t end = first + 1;
    while (end < threads_.size() && state_of(threads_[end]) == state) ++end;
    if (parts > 0) text += "; ";
    text += end - first == 1 ? "thread " + std::to_string(first)
                             : "threads " + std::to_string(first) + "-" + std::to_string(end - 1);
    text += " " + state;
    first = end;
  }
  return text;
}

}  // namespace lab::simt
