#pragma once
// A planted fault for tests.

namespace lab::test {

// Queues a kernel on the current GPU that writes to an unmapped address.
void write_illegal_address();

}  // namespace lab::test
