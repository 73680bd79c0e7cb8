#include "compute/train/ranks/mpi/mpi_session.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "compute/core/backoff.h"
#include "compute/core/language.h"
#include "compute/train/ranks/mpi/messages.h"
#include "compute/train/ranks/rank_session.h"

namespace lab {
namespace mpi {
namespace {

// After a failure, every rank finishes soon or never.
constexpr std::chrono::seconds kGoodbyeTime{5};
constexpr unsigned kFinalizeSeconds = 5;
constexpr std::uint32_t kLeaving = 0xffffffff;  // instead of a round: rank 0 leaves

MPI_Comm duplicate(MPI_Comm comm) {
  MPI_Comm copy = MPI_COMM_NULL;
  check(MPI_Comm_dup(comm, &copy), "joining");
  check(MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN), "joining");
  return copy;
}

void initialize(int expected) {
  // Otherwise MPI's hwloc connects to the X displays :0 to :9, and Xlib ends the process if one of
  // them closes meanwhile. No thread of the lab runs yet.
  setenv("HWLOC_COMPONENTS", "-gl", 0);  // NOLINT(concurrency-mt-unsafe)
  int provided = MPI_THREAD_SINGLE;
  check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided), "initialization");
  int size = 0;
  check(MPI_Comm_size(MPI_COMM_WORLD, &size), "initialization");
  if (size == expected && provided >= MPI_THREAD_SERIALIZED) return;
  MPI_Finalize();
  if (size == expected) {
    throw Error(Errc::Unsupported,
                tr("this MPI does not support calls from several threads; use one that provides "
                   "MPI_THREAD_SERIALIZED"));
  }
  throw Error(Errc::Unsupported,
              trf("the launcher started {} processes, but MPI connected {}: use the mpirun "
                  "of the MPI this program was built with, or srun --mpi=pmix",
                  expected, size));
}

}  // namespace

MpiSession::MpiSession(int expected) {
  initialize(expected);
  const Communicators comms{duplicate(MPI_COMM_WORLD), duplicate(MPI_COMM_WORLD)};
  std::vector<WatchedProcess> mates = find_host_mates(comms.data);
  group_.emplace(comms, std::move(mates));
}

// Also fills in host_ranks_.
std::vector<WatchedProcess> MpiSession::find_host_mates(MPI_Comm world) {
  MPI_Comm host = MPI_COMM_NULL;
  check(MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host), "joining");
  int size = 0, rank = 0;
  check(MPI_Comm_size(host, &size), "joining");
  check(MPI_Comm_rank(world, &rank), "joining");
  const std::array<int, 2> own = {rank, static_cast<int>(getpid())};
  std::vector<std::array<int, 2>> all(static_cast<std::size_t>(size));
  check(MPI_Allgather(own.data(), 2, MPI_INT, all.data(), 2, MPI_INT, host), "joining");
  check(MPI_Comm_free(&host), "joining");
  std::vector<WatchedProcess> mates;
  for (const auto& [mate, pid] : all) {
    host_ranks_.push_back(mate);
    if (mate != rank) mates.push_back({mate, pid});
  }
  return mates;
}

void MpiSession::lead(std::string_view request) {
  group_->check_alive();
  const std::uint32_t next = group_->round() + 1;
  group_->begin_round(next);
  send_request(next, request);
}

void MpiSession::send_request(std::uint32_t round, std::string_view request) {
  sending_.clear();
  request_.resize(sizeof round + request.size());
  std::memcpy(request_.data(), &round, sizeof round);
  std::memcpy(request_.data() + sizeof round, request.data(), request.size());
  RequestSet& requests = sending_.emplace_back(group_->drain_budget());
  for (int r = 1; r < group_->size(); ++r) {
    requests.send(request_, r, kRequestTag, group_->control());
  }
}

bool MpiSession::any_rank_leaving() const {
  int arrived = 0;
  check(MPI_Iprobe(MPI_ANY_SOURCE, kGoodbyeTag, group_->control(), &arrived, MPI_STATUS_IGNORE),
        "following rank 0");
  return arrived != 0;
}

std::optional<std::string> MpiSession::follow(const RankWait& wait) {
  int arrived = 0;
  MPI_Message message{};
  MPI_Status status{};
  Backoff backoff;
  while (true) {
    check(MPI_Improbe(0, kRequestTag, group_->control(), &arrived, &message, &status),
          "following rank 0");
    if (arrived != 0) break;
    if (any_rank_leaving()) return {};
    group_->check_alive();
    MpiGroup::throw_if_stopped(wait);
    backoff.pause();
  }
  int size = 0;
  check(MPI_Get_count(&status, MPI_BYTE, &size), "following rank 0");
  std::vector<std::byte> bytes(static_cast<std::size_t>(size));
  check(MPI_Mrecv(bytes.data(), size, MPI_BYTE, &message, MPI_STATUS_IGNORE), "following rank 0");
  std::uint32_t round = kLeaving;
  if (bytes.size() >= sizeof round) std::memcpy(&round, bytes.data(), sizeof round);
  if (round == kLeaving) return {};
  group_->begin_round(round);
  const char* text = reinterpret_cast<const char*>(bytes.data() + sizeof round);
  return std::string(text, bytes.size() - sizeof round);
}

std::optional<Error> MpiSession::say_goodbye(int status, const RankWait& wait, bool& all_answered) {
  using Clock = std::chrono::steady_clock;
  const MPI_Comm control = group_->control();
  if (group_->rank() == 0) send_request(kLeaving, {});
  const std::array<std::byte, 1> word{};
  RequestSet farewells(group_->drain_budget());
  std::vector<int> missing;
  for (int r = 0; r < group_->size(); ++r) {
    if (r == group_->rank()) continue;
    farewells.send(word, r, kGoodbyeTag, control);
    missing.push_back(r);
  }
  const auto answered = [&](int r) {
    int arrived = 0;
    std::byte answer{};
    check(MPI_Iprobe(r, kGoodbyeTag, control, &arrived, MPI_STATUS_IGNORE), "leaving");
    if (arrived == 0) return false;
    check(MPI_Recv(&answer, 1, MPI_BYTE, r, kGoodbyeTag, control, MPI_STATUS_IGNORE), "leaving");
    group_->watch().dismiss(r);
    return true;
  };
  std::optional<Error> failure;
  std::optional<Clock::time_point> end;
  if (status != 0) end = Clock::now() + kGoodbyeTime;
  Backoff backoff;
  while (std::erase_if(missing, answered), !missing.empty()) {
    if (end && Clock::now() >= *end) break;
    try {
      if (!end) group_->throw_if_over(wait);
    } catch (const Error& e) {
      failure = e;
      group_->fail(e.code(), e.what());
      end = Clock::now() + kGoodbyeTime;
    }
    backoff.pause();
  }
  all_answered = missing.empty();
  return failure;
}

std::optional<Error> MpiSession::close(int status, const RankWait& wait) {
  bool all_answered = false;
  std::optional<Error> failure;
  try {
    failure = say_goodbye(status, wait, all_answered);
  } catch (const Error& e) {
    failure = e;
  }
  if (!all_answered) MPI_Abort(MPI_COMM_WORLD, status != 0 ? status : 1);
  sending_.clear();
  group_.reset();  // no message may be in flight any more
  // All ranks are about to enter MPI_Finalize; the alarm ends a process that hangs there.
  alarm(kFinalizeSeconds);
  MPI_Finalize();
  alarm(0);
  return failure;
}

}  // namespace mpi

std::unique_ptr<RankSession> open_rank_session() {
  const int processes = launched_processes();
  if (processes <= 1) return single_session();
  return std::make_unique<mpi::MpiSession>(processes);
}

}  // namespace lab
