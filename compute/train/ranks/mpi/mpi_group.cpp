#include "compute/train/ranks/mpi/mpi_group.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <utility>

#include "compute/core/backoff.h"
#include "compute/core/language.h"
#include "compute/train/ranks/mpi/messages.h"

namespace lab::mpi {
namespace {

// Piece of a broadcast: large broadcasts are forwarded while they are still arriving.
constexpr std::size_t kBroadcastPiece = std::size_t{1} << 20;

int rank_in(MPI_Comm comm) {
  int rank = 0;
  check(MPI_Comm_rank(comm, &rank), "querying the rank");
  return rank;
}

int size_of(MPI_Comm comm) {
  int size = 0;
  check(MPI_Comm_size(comm, &size), "counting the ranks");
  return size;
}

std::string own_host() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown host";
}

// Binomial tree: rank r, counted from the root, receives from r with its lowest set bit cleared.
struct TreePlace {
  int parent = -1;
  std::vector<int> children;
};

TreePlace tree_place(int rank, int root, int size) {
  const int relative = (rank - root + size) % size;
  TreePlace place;
  int bit = 1;
  for (; bit < size && (relative & bit) == 0; bit *= 2) continue;
  if (relative != 0) place.parent = ((relative & ~bit) + root) % size;
  for (int below = bit / 2; below > 0; below /= 2) {
    if (relative + below < size) place.children.push_back((relative + below + root) % size);
  }
  return place;
}

}  // namespace

class MpiGroup::Sum final : public PendingSum {
 public:
  Sum(MpiGroup& group, std::shared_ptr<SumState> state) : group_(group), state_(std::move(state)) {}
  // The values may be freed after this object.
  ~Sum() override {
    if (state_->pieces_left > 0) group_.sums_.forget();
  }
  Sum(const Sum&) = delete;
  Sum& operator=(const Sum&) = delete;

  bool test() override {
    if (state_->pieces_left == 0) return true;
    group_.sums_.progress();
    if (state_->pieces_left == 0) return true;
    group_.check();
    return false;
  }

 private:
  MpiGroup& group_;
  const std::shared_ptr<SumState> state_;
};

MpiGroup::MpiGroup(const Communicators& comms, std::vector<WatchedProcess> host_mates)
    : data_(comms.data),
      control_(comms.control),
      rank_(rank_in(data_)),
      size_(size_of(data_)),
      watch_(std::move(host_mates)),
      failure_notices_(control_, rank_, size_, budget_),
      sums_(data_, rank_, size_, budget_) {
  const std::string host = own_host();
  for (const auto& name : all_gather(std::as_bytes(std::span(host)), {})) {
    hosts_.emplace_back(reinterpret_cast<const char*>(name.data()), name.size());
  }
}

void MpiGroup::broadcast(std::span<std::byte> bytes, int root, const RankWait& wait) {
  const int tag = next_tag(Traffic::Broadcast);
  const TreePlace place = tree_place(rank_, root, size_);
  RequestSet sends(budget_);
  for (std::size_t at = 0; at < bytes.size(); at += kBroadcastPiece) {
    const auto piece = bytes.subspan(at, std::min(kBroadcastPiece, bytes.size() - at));
    if (place.parent >= 0) {
      RequestSet arrival(budget_);
      arrival.receive(piece, place.parent, tag, data_);
      finish(arrival, wait);
    }
    for (const int child : place.children) sends.send(piece, child, tag, data_);
  }
  finish(sends, wait);
}

std::vector<std::vector<std::byte>> MpiGroup::all_gather(std::span<const std::byte> bytes,
                                                         const RankWait& wait) {
  if (bytes.size() > INT_MAX) {
    throw Error(Errc::InvalidArgument,
                trf("all_gather: {} bytes from one rank; the limit is {}", bytes.size(), INT_MAX));
  }
  const int tag = next_tag(Traffic::Exchange);
  std::vector<std::vector<std::byte>> all(static_cast<std::size_t>(size_));
  all[static_cast<std::size_t>(rank_)].assign(bytes.begin(), bytes.end());
  std::vector<int> missing;
  RequestSet requests(budget_);
  for (int r = 0; r < size_; ++r) {
    if (r == rank_) continue;
    requests.send(bytes, r, tag, data_);
    missing.push_back(r);
  }
  const auto take_in = [&](int r) {
    int arrived = 0;
    MPI_Message message{};
    MPI_Status status{};
    mpi::check(MPI_Improbe(r, tag, data_, &arrived, &message, &status), "exchange");
    if (arrived == 0) return false;
    int size = 0;
    mpi::check(MPI_Get_count(&status, MPI_BYTE, &size), "exchange");
    std::vector<std::byte>& theirs = all[static_cast<std::size_t>(r)];
    theirs.resize(static_cast<std::size_t>(size));
    requests.receive(theirs, message);
    return true;
  };
  Backoff backoff;
  while (std::erase_if(missing, take_in), !missing.empty()) {
    throw_if_over(wait);
    backoff.pause();
  }
  finish(requests, wait);
  return all;
}

std::unique_ptr<PendingSum> MpiGroup::start_sum(std::span<float> values) {
  check();
  return std::make_unique<Sum>(*this, sums_.start(values));
}

void MpiGroup::check() {
  if (!failure_elsewhere_) {
    if (const AnnouncedFailure* failure = failure_notices_.look(round_)) {
      failure_elsewhere_.emplace(failure->code, name_of(failure->rank) + ": " + failure->message);
    }
  }
  if (failure_elsewhere_) throw Error(*failure_elsewhere_);
  check_alive();
}

void MpiGroup::check_alive() {
  if (const auto dead = watch_.dead()) {
    throw Error(Errc::Network,
                trf("{} has died: its process {} is gone", name_of(dead->rank), dead->pid));
  }
}

// A failure announced elsewhere has already been sent to every rank.
void MpiGroup::fail(Errc code, const std::string& message) noexcept {
  if (announced_ || failure_elsewhere_) return;
  announced_ = true;
  try {
    failure_notices_.announce(round_, code, message);
  } catch (...) {
    return;  // MPI itself is broken: the launcher ends the other ranks
  }
}

void MpiGroup::begin_round(std::uint32_t round) {
  sums_.begin_round(round);
  budget_ = {};
  round_ = round;
  sequence_ = 0;
  announced_ = false;
  failure_elsewhere_.reset();
}

std::optional<Error> MpiGroup::failure_elsewhere() const {
  return failure_elsewhere_;
}

void MpiGroup::throw_if_over(const RankWait& wait) {
  check();
  throw_if_stopped(wait);
}

void MpiGroup::throw_if_stopped(const RankWait& wait) {
  if (wait.stop.stop_requested() || (wait.interrupted && wait.interrupted())) {
    throw Error(Errc::Cancelled, tr("interrupted while waiting for the other ranks"));
  }
}

void MpiGroup::finish(RequestSet& requests, const RankWait& wait) {
  Backoff backoff;
  while (!requests.test()) {
    throw_if_over(wait);
    backoff.pause();
  }
}

std::string MpiGroup::name_of(int rank) const {
  const auto r = static_cast<std::size_t>(rank);
  return r < hosts_.size() ? fmt::format("rank {} ({})", rank, hosts_[r])
                           : fmt::format("rank {}", rank);
}

}  // namespace lab::mpi
