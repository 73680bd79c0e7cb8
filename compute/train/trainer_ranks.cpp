// Communication of a trainer with the other processes.
#include <cstring>
#include <numeric>

#include "compute/core/language.h"
#include "compute/train/trainer.h"

namespace lab {
namespace {

template <typename T>
void append(std::vector<std::byte>& bytes, const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  const auto view = std::as_bytes(std::span(&value, 1));
  bytes.insert(bytes.end(), view.begin(), view.end());
}

// Reads what append() wrote, in the same order.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : rest_(bytes) {}
  template <typename T>
  T take() {
    T value;
    if (rest_.size() < sizeof value) {
      throw Error(Errc::Internal, tr("training: another process sent too few bytes"));
    }
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_ = rest_.subspan(sizeof value);
    return value;
  }
  bool empty() const { return rest_.empty(); }

 private:
  std::span<const std::byte> rest_;
};

struct Introduction {
  Device device;
  double weight = 1;
};

}  // namespace

// Exchanges devices and shares with all processes. Devices are numbered by rank, then in the order
// given.
void Trainer::exchange_devices(const std::vector<DeviceContext*>& devices,
                               const TrainerOptions& options) {
  std::vector<std::byte> mine;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const bool listed = options.share_policy == SharePolicy::Listed;
    append(mine, Introduction{devices[i]->device(), listed ? options.shares.at(i) : 1.0});
  }
  int rank = 0;
  for (const std::vector<std::byte>& theirs : ranks_.all_gather(mine, rank_wait())) {
    if (rank == ranks_.rank()) first_local_ = devices_.size();
    for (Reader reader(theirs); !reader.empty();) {
      const auto one = reader.take<Introduction>();
      devices_.push_back({rank, one.device});
      weights_.push_back(one.weight);
    }
    ++rank;
  }
  if (options.share_policy == SharePolicy::Auto && !alone()) {
    auto_shares_ = std::make_unique<AutoShares>(devices_.size());
    weights_ = auto_shares_->weights();
  }
}

namespace {

// A process's requests to all others.
struct StopRequests {
  bool stop = false;
  bool stop_after_epoch = false;
};

}  // namespace

void Trainer::exchange(bool& stop_after_epoch) {
  steps_.clear();
  if (ranks_.single()) {
    for (const auto& local : locals_) steps_.push_back(local ? local->report : ReplicaStep());
    return;
  }
  std::vector<std::byte> mine;
  append(mine, StopRequests{stop_.stop_requested(), stop_after_epoch});
  for (const auto& local : locals_) append(mine, local->report);
  bool stop = false;
  for (const std::vector<std::byte>& theirs : ranks_.all_gather(mine, rank_wait())) {
    Reader reader(theirs);
    const auto requests = reader.take<StopRequests>();
    stop = stop || requests.stop;
    stop_after_epoch = stop_after_epoch || requests.stop_after_epoch;
    while (!reader.empty()) steps_.push_back(reader.take<ReplicaStep>());
  }
  if (stop) throw AgreedStop();
}

void Trainer::exchange_most_images() {
  if (ranks_.single()) return;
  std::vector<std::byte> mine;
  for (std::size_t i = 0; i < replicas_.size(); ++i) append(mine, most_images_[first_local_ + i]);
  std::vector<std::int64_t> all;
  for (const std::vector<std::byte>& theirs : ranks_.all_gather(mine, rank_wait())) {
    for (Reader reader(theirs); !reader.empty();) all.push_back(reader.take<std::int64_t>());
  }
  most_images_ = std::move(all);
}

void Trainer::send_state() {
  if (!ranks_.single()) {
    const auto send = [&](auto values) {
      ranks_.broadcast(std::as_writable_bytes(std::span(values)), 0, rank_wait());
    };
    send(network().flat_parameters());
    send(sgd().velocity());
    bool started = sgd().started();
    send(std::span(&started, 1));
    sgd().set_started(started);
    for (nn::RunningStatistics& running : network().running()) {
      send(std::span(running.mean));
      send(std::span(running.variance));
      send(std::span(&running.batches, 1));
    }
  }
  replicas_.front()->write_state();
  for (std::size_t i = 1; i < replicas_.size(); ++i) {
    replicas_[i]->copy_state(*replicas_.front());
    replicas_[i]->write_state();
  }
}

void Trainer::gather_state() {
  take_latest_parameters();
  gather_statistics();
}

// Brings the running statistics of the reference to all replicas.
void Trainer::gather_statistics() {
  std::deque<nn::RunningStatistics>& first = network().running();
  take_own_statistics();
  if (!ranks_.single()) {
    const int root = devices_[reference_].rank;
    for (nn::RunningStatistics& running : first) {
      ranks_.broadcast(std::as_writable_bytes(std::span(running.mean)), root, rank_wait());
      ranks_.broadcast(std::as_writable_bytes(std::span(running.variance)), root, rank_wait());
      ranks_.broadcast(std::as_writable_bytes(std::span(&running.batches, 1)), root, rank_wait());
    }
  }
  for (std::size_t i = 0; i < replicas_.size(); ++i) {
    nn::Network& own = replicas_[i]->network();
    if (i > 0) nn::copy_statistics(first, own.running());
    own.write_statistics();
  }
}

}  // namespace lab
