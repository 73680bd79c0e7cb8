#pragma once

namespace lab::test {

// Calls of operator new in this program so far, from any thread.
long allocation_count();

}  // namespace lab::test
