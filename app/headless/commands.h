#pragma once
// The commands of the terminal. Each returns the exit status; it throws Error for a failure that
// main reports.
#include "app/cli/invocation.h"
#include "app/headless/console.h"
#include "app/headless/interrupt.h"
#include "compute/train/ranks/rank_session.h"

namespace lab::app {

inline constexpr int kExitDone = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitInterrupted = 130;
inline constexpr int kExitOutputClosed = 141;

int run_devices(const DevicesOptions& options, Console& console, Interrupt& interrupt);
// With the other processes of `session`; of these, rank 0 alone prints results.
int run_job(const JobOptions& options, Console& console, Interrupt& interrupt,
            RankSession& session);
int run_data(const DataOptions& options, Console& console, Interrupt& interrupt);
int run_tour(const TourOptions& options, Console& console, Interrupt& interrupt);
int run_version(Console& console);

}  // namespace lab::app
