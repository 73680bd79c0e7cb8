#include "compute/gpu/emulator/memory/memory_operations.h"

#include "compute/gpu/emulator/block.h"

namespace lab::simt {

SharedArray& shared_array_of(const SharedTag& tag, std::size_t bytes, std::size_t element_bytes) {
  return current_block().shared().array(tag, bytes, element_bytes);
}

SharedArray& dynamic_shared_array_of(const char* name, std::size_t element_bytes) {
  return current_block().shared().dynamic_array(name, element_bytes);
}

void copy_commit() {
  current_block().self().copies.commit();
}

void wait_for_copies(int pending) {
  SimtThread& me = current_block().self();
  me.copies.wait(static_cast<std::size_t>(pending), me.time);
}

}  // namespace lab::simt
