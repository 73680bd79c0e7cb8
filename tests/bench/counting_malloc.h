#pragma once

namespace lab::bench {

// Calls of malloc and its relatives in this program so far, from any thread and any library.
long allocation_count();

}  // namespace lab::bench
