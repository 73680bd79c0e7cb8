#include "tests/gpu/illegal_write.h"

namespace lab::test {
namespace {

__global__ void write_to(int* address) {
  *address = 1;
}

}  // namespace

void write_illegal_address() {
  // Outside any allocation.
  write_to<<<1, 1>>>(reinterpret_cast<int*>(0x10));
}

}  // namespace lab::test
