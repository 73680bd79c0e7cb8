#include "compute/train/ranks/mpi/mpi_call.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "compute/core/error.h"

namespace lab::mpi {

void check(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  if (MPI_Error_string(code, text.data(), &length) != MPI_SUCCESS) length = 0;
  throw Error(Errc::Network,
              fmt::format("{} between ranks failed: {}", what,
                          std::string_view(text.data(), static_cast<std::size_t>(length))));
}

}  // namespace lab::mpi
