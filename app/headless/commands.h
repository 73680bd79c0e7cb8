#pragma once
// The terminal commands. Each returns the exit status and throws Error for failures, which main
// reports.
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
// Runs with the other processes of `session`; only rank 0 prints results.
int run_job(const JobOptions& options, Console& console, Interrupt& interrupt,
            RankSession& session);
int run_data(const DataOptions& options, Console& console, Interrupt& interrupt);
int run_tour(const TourOptions& options, Console& console, Interrupt& interrupt);
int run_lessons(const LessonOptions& options, Console& console, Interrupt& interrupt,
                RankSession& session);
// Whether the lesson is one that all ranks run; rank 0 runs any other alone.
bool runs_on_ranks(const LessonOptions& options);
int run_version(Console& console);

}  // namespace lab::app
