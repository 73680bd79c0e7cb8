#pragma once
// Times work that all threads of a CPU device do at once, each at the rate of its own core. Where
// cores differ, a wait for the slowest thread would report the device as its slowest core times the
// number of threads.
#include <span>

#include "compute/machine/thread_pool.h"

namespace lab {

// Returns the seconds that the threads would take together if they shared out equal parts of work
// by their rates: the harmonic mean of `seconds`, where a thread takes seconds[t] > 0 for one part.
// 0 if `seconds` is empty.
double seconds_at_own_rates(std::span<const double> seconds);

// Calls work(t) on every thread of `pool`, which starts on all of them at the same time, and
// returns seconds_at_own_rates() of the calls, by wall-clock time. All calls must do the same
// amount of work. The rates of threads that share a core are overstated, since they take turns. A
// thread that has finished calls go_on(t), which does a little more of the same kind, until all
// have finished: no thread is timed next to idle cores, which would leave it more power or
// bandwidth. Rethrows the first exception of either. Must not be called from inside pool.run().
double time_at_own_rates(ThreadPool& pool, FunctionRef<void(int thread)> work,
                         FunctionRef<void(int thread)> go_on);

}  // namespace lab
