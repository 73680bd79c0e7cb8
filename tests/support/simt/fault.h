#pragma once
// What a kernel does wrong, found while it runs on the CPU.
#include <stdexcept>
#include <string>

namespace lab::simt {

enum class FaultKind {
  Launch,            // the launch itself: sizes, arrays
  OutOfBounds,       // an index outside its array, shared or global
  Misaligned,        // an address that its access width does not divide
  Unwritten,         // a read of shared memory that no thread has written
  Race,              // two threads, shared memory, no barrier between
  CopyNotWaited,     // shared memory used while a copy_async to it is under way
  Deadlock,          // a barrier or a warp operation that some threads never reach
  DivergentBarrier,  // threads of one block at different sync_threads
  InactiveLane,      // a warp operation that needs a lane which takes no part
  TwoWriters,        // two threads of one launch write one global element
  ReadOnly,          // a write to an input, or a load_readonly of what the launch writes
};

// The message names the array and index, the block and the threads.
class Fault : public std::runtime_error {
 public:
  Fault(FaultKind kind, const std::string& what) : std::runtime_error(what), kind_(kind) {}
  FaultKind kind() const { return kind_; }

 private:
  FaultKind kind_;
};

}  // namespace lab::simt
