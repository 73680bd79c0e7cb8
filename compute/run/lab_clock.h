#pragma once
// The one time axis of the window: seconds since the program started.

namespace lab {

// Seconds since the first call, which main makes at start. Monotonic; safe from any thread.
double lab_time_s();

}  // namespace lab
