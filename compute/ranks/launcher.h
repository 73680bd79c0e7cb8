#pragma once
// What mpirun, mpiexec or srun tell the processes they start.

namespace lab {

// How many processes the launcher started together; 1 where there is none.
int launched_processes();

}  // namespace lab
