#pragma once
// Kernel errors that the CPU emulator detects.
#include <stdexcept>
#include <string>

namespace lab::simt {

enum class FaultKind {
  Launch,            // invalid launch: sizes, arrays
  OutOfBounds,       // an index outside its array, shared or global
  Misaligned,        // an address that is not a multiple of the access width
  Unwritten,         // a read of shared memory that no thread has written
  Race,              // unordered accesses by two threads to shared memory
  CopyNotWaited,     // shared memory used while a copy_async to it is pending
  Deadlock,          // a barrier or warp operation that some threads never reach
  DivergentBarrier,  // threads of one block at different sync_threads
  PhaseBarrier,      // an mbarrier before its initialisation, or with more arrivals than it has
  InactiveLane,      // a warp operation that reads from a non-participating lane
  TwoWriters,        // two threads of one launch write the same global element
  ReadOnly,          // a write to an input, or a load_readonly of data the launch writes
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
