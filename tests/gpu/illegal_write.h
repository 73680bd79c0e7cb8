#pragma once
// A planted fault.

namespace lab::test {

// Queues a kernel on the current GPU that writes where no memory is.
void write_illegal_address();

}  // namespace lab::test
