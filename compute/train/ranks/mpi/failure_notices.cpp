#include "compute/train/ranks/mpi/failure_notices.h"

#include <algorithm>
#include <cstring>

#include "compute/train/ranks/mpi/messages.h"

namespace lab::mpi {
namespace {

// Header and text stay below the size that every MPI sends eagerly, without asking the receiver.
struct Header {
  std::uint32_t round;
  std::int32_t code;
};
constexpr std::size_t kMaxText = 2000;

std::vector<std::byte> pack(std::uint32_t round, Errc code, const std::string& message) {
  const Header header{round, static_cast<std::int32_t>(code)};
  const std::size_t text = std::min(message.size(), kMaxText);
  std::vector<std::byte> bytes(sizeof header + text);
  std::memcpy(bytes.data(), &header, sizeof header);
  std::memcpy(bytes.data() + sizeof header, message.data(), text);
  return bytes;
}

AnnouncedFailure unpack(int rank, const std::vector<std::byte>& bytes) {
  Header header{};
  if (bytes.size() < sizeof header) return {rank, 0, Errc::Internal, "failed"};
  std::memcpy(&header, bytes.data(), sizeof header);
  const char* text = reinterpret_cast<const char*>(bytes.data() + sizeof header);
  return {rank, header.round, static_cast<Errc>(header.code), {text, bytes.size() - sizeof header}};
}

}  // namespace

FailureNotices::FailureNotices(MPI_Comm comm, int rank, int size, DrainBudget& budget)
    : comm_(comm), rank_(rank), size_(size), budget_(budget) {}

void FailureNotices::announce(std::uint32_t round, Errc code, const std::string& message) {
  sending_.clear();  // those of an earlier round
  sent_ = pack(round, code, message);
  RequestSet& requests = sending_.emplace_back(budget_);
  for (int r = 0; r < size_; ++r) {
    if (r != rank_) requests.send(sent_, r, kFailureTag, comm_);
  }
}

const AnnouncedFailure* FailureNotices::look(std::uint32_t round) {
  if (const AnnouncedFailure* failure = known(round)) return failure;
  receive_all();
  return known(round);
}

void FailureNotices::receive_all() {
  while (true) {
    int arrived = 0;
    MPI_Message message{};
    MPI_Status status{};
    check(MPI_Improbe(MPI_ANY_SOURCE, kFailureTag, comm_, &arrived, &message, &status),
          "probing for failures");
    if (arrived == 0) return;
    int size = 0;
    check(MPI_Get_count(&status, MPI_BYTE, &size), "probing for failures");
    std::vector<std::byte> bytes(static_cast<std::size_t>(size));
    check(MPI_Mrecv(bytes.data(), size, MPI_BYTE, &message, MPI_STATUS_IGNORE),
          "receiving a failure");
    known_.push_back(unpack(status.MPI_SOURCE, bytes));
  }
}

const AnnouncedFailure* FailureNotices::known(std::uint32_t round) const {
  const auto found = std::find_if(known_.begin(), known_.end(),
                                  [&](const AnnouncedFailure& f) { return f.round == round; });
  return found == known_.end() ? nullptr : &*found;
}

}  // namespace lab::mpi
