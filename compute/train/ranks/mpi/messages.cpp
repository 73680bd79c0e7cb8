#include "compute/train/ranks/mpi/messages.h"

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <utility>

#include "compute/core/backoff.h"
#include "compute/core/error.h"

namespace lab::mpi {

void check(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  if (MPI_Error_string(code, text.data(), &length) != MPI_SUCCESS) length = 0;
  throw Error(Errc::Network,
              fmt::format("MPI: {} failed: {}", what,
                          std::string_view(text.data(), static_cast<std::size_t>(length))));
}

namespace {

constexpr std::chrono::milliseconds kDrainTime{1000};

bool all_through(std::vector<MPI_Request>& requests) {
  if (requests.empty()) return true;
  int through = 0;
  check(MPI_Testall(static_cast<int>(requests.size()), requests.data(), &through,
                    MPI_STATUSES_IGNORE),
        "transfer");
  if (through != 0) requests.clear();
  return through != 0;
}

}  // namespace

bool DrainBudget::left() {
  const auto now = std::chrono::steady_clock::now();
  if (!end_) end_ = now + kDrainTime;
  return now < *end_;
}

RequestSet::RequestSet(RequestSet&& other) noexcept
    : budget_(other.budget_),
      sends_(std::exchange(other.sends_, {})),
      receives_(std::exchange(other.receives_, {})) {}

void RequestSet::send(std::span<const std::byte> bytes, int to, int tag, MPI_Comm comm) {
  MPI_Request& request = sends_.emplace_back(MPI_REQUEST_NULL);
  check(MPI_Isend(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, to, tag, comm, &request),
        "send");
}

void RequestSet::receive(std::span<std::byte> bytes, int from, int tag, MPI_Comm comm) {
  MPI_Request& request = receives_.emplace_back(MPI_REQUEST_NULL);
  check(
      MPI_Irecv(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, from, tag, comm, &request),
      "receive");
}

void RequestSet::receive(std::span<std::byte> bytes, MPI_Message message) {
  MPI_Request& request = receives_.emplace_back(MPI_REQUEST_NULL);
  check(MPI_Imrecv(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, &message, &request),
        "receive");
}

bool RequestSet::test() {
  const bool sent = all_through(sends_);
  return all_through(receives_) && sent;
}

void RequestSet::abandon() noexcept {
  try {
    if (test()) return;
    for (MPI_Request& request : receives_) {
      if (request != MPI_REQUEST_NULL) MPI_Cancel(&request);
    }
    Backoff backoff;
    while (!test() && budget_->left()) backoff.pause();
    for (MPI_Request& request : sends_) {
      if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
    }
  } catch (...) {
    return;  // the connection itself is broken: there is nothing left to wait for
  }
}

}  // namespace lab::mpi
