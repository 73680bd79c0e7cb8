#pragma once
// What mpirun, mpiexec or srun tell the processes they start.

#include <chrono>

namespace lab {

// How many processes the launcher started together; 1 where there is none.
int launched_processes();

// How long after SIGCONT Open MPI's mpirun sends SIGTERM when it ends its processes, and how long
// after that SIGKILL.
std::chrono::seconds launcher_notice();

}  // namespace lab
