#pragma once

namespace lab::bench {

// Number of calls to malloc and related functions so far, from all threads and libraries of the
// process.
long allocation_count();

}  // namespace lab::bench
