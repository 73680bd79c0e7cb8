#pragma once

namespace lab::test {

// Returns the number of operator new calls in this program so far, on all threads; 0 in a build
// with the thread sanitizer.
long allocation_count();

}  // namespace lab::test
