#pragma once
// MPI's return values as exceptions. Nothing else in the lab includes <mpi.h>.
#include <mpi.h>

namespace lab::mpi {

// Throws Error(Network) that names `what` and says what MPI says.
void check(int code, const char* what);

}  // namespace lab::mpi
