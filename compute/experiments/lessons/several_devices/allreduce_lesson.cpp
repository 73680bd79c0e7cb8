// Lesson "allreduce": a star sends everything through one device, a ring shares the work.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "compute/core/language.h"
#include "compute/core/units.h"
#include "compute/experiments/lessons/several_devices/allreduce_parts.h"
#include "compute/experiments/lessons/several_devices/several_device_lessons.h"
#include "compute/machine/thread_pool.h"
#include "compute/measure/statistics.h"

namespace lab::lessons {
namespace {

// What an algorithm moved, per device.
struct Traffic {
  std::vector<double> sent, received;  // bytes
  std::int64_t messages = 0;
  explicit Traffic(std::size_t k) : sent(k), received(k) {}
};

std::vector<std::vector<float>> arrays_to_sum(std::size_t k, std::int64_t elements) {
  std::vector<std::vector<float>> arrays;
  arrays.reserve(k);
  for (std::size_t i = 0; i < k; ++i) arrays.push_back(array_to_sum(i, elements));
  return arrays;
}

// k devices, each with its own array.
class SumDevices {
 public:
  explicit SumDevices(std::vector<std::vector<float>> arrays)
      : traffic(arrays.size()),
        elements_(std::ssize(arrays.front())),
        arrays_(std::move(arrays)),
        inbox_(arrays_) {}
  explicit SumDevices(std::size_t k) : SumDevices(arrays_to_sum(k, kSumElements)) {}

  std::size_t size() const { return arrays_.size(); }
  std::int64_t elements() const { return elements_; }
  const std::vector<float>& array(std::size_t device) const { return arrays_[device]; }

  // Sends elements [begin, end) of `from` to `to`, which adds them or takes them over. Returns the
  // seconds.
  double send(std::size_t from, std::size_t to, std::int64_t begin, std::int64_t end, bool add) {
    const double begin_s = monotonic_s();
    const auto first = static_cast<std::size_t>(begin), last = static_cast<std::size_t>(end);
    std::copy(arrays_[from].begin() + begin, arrays_[from].begin() + end,
              inbox_[to].begin() + begin);
    if (add) {
      for (std::size_t j = first; j < last; ++j) arrays_[to][j] += inbox_[to][j];
    } else {
      std::copy(inbox_[to].begin() + begin, inbox_[to].begin() + end, arrays_[to].begin() + begin);
    }
    const double bytes = 4.0 * static_cast<double>(end - begin);
    traffic.sent[from] += bytes;
    traffic.received[to] += bytes;
    ++traffic.messages;
    return monotonic_s() - begin_s;
  }

  bool equals(const std::vector<float>& expected) const {
    return std::all_of(arrays_.begin(), arrays_.end(),
                       [&](const std::vector<float>& array) { return array == expected; });
  }

  std::vector<float> exact_sum() const {
    std::vector<float> sum(static_cast<std::size_t>(elements_), 0.0F);
    for (const std::vector<float>& array : arrays_) {
      for (std::size_t j = 0; j < sum.size(); ++j) sum[j] += array[j];
    }
    return sum;
  }

  Traffic traffic;

 private:
  const std::int64_t elements_;
  std::vector<std::vector<float>> arrays_, inbox_;
};

// A message of elements [begin, end).
struct SumMessage {
  std::size_t from = 0, to = 0;
  std::int64_t begin = 0, end = 0;
  bool adds = false;
};

// Sees every message; those of one round use different links and are sent at the same time.
class SumWatch {
 public:
  virtual ~SumWatch() = default;
  virtual void sent(const SumMessage& message, double begin_s, double seconds) = 0;
  virtual void round_ended() = 0;
};

// All devices send to device 0, which sends the sum back. Its link is used by one message at a
// time.
double sum_by_star(LessonStage& stage, SumDevices& devices, SumWatch& watch) {
  double total_s = 0;
  const auto message = [&](std::size_t from, std::size_t to, bool adds) {
    stage.context().checkpoint();
    const SumMessage whole{from, to, 0, devices.elements(), adds};
    const double seconds = devices.send(from, to, 0, devices.elements(), adds);
    watch.sent(whole, total_s, seconds);
    watch.round_ended();
    total_s += seconds;
  };
  for (std::size_t i = 1; i < devices.size(); ++i) message(i, 0, /*adds=*/true);
  for (std::size_t i = 1; i < devices.size(); ++i) message(0, i, /*adds=*/false);
  return total_s;
}

// Reduce-scatter, then all-gather: in each of 2(k-1) steps every device sends one chunk to its
// neighbour. The messages of a step use different links, so the step lasts as long as the slowest.
struct RingTime {
  double total_s = 0;
  double waiting_s = 0;  // for the slowest message of each step
};
RingTime sum_by_ring(LessonStage& stage, SumDevices& devices, SumWatch& watch) {
  const std::size_t k = devices.size();
  const auto chunk_begin = [&](std::size_t chunk) {
    return devices.elements() * static_cast<std::int64_t>(chunk) / static_cast<std::int64_t>(k);
  };
  RingTime time;
  const auto run_step = [&](std::size_t round, bool reduces) {
    double slowest_s = 0, mean_s = 0;
    for (std::size_t i = 0; i < k; ++i) {
      stage.context().checkpoint();
      // The chunk that device i received in the step before; at first its own.
      const std::size_t chunk = (i + (reduces ? 0 : 1) + k - round) % k;
      const SumMessage message{i, (i + 1) % k, chunk_begin(chunk), chunk_begin(chunk + 1), reduces};
      const double seconds =
          devices.send(message.from, message.to, message.begin, message.end, reduces);
      watch.sent(message, time.total_s, seconds);
      slowest_s = std::max(slowest_s, seconds);
      mean_s += seconds / static_cast<double>(k);
    }
    watch.round_ended();
    time.total_s += slowest_s;
    time.waiting_s += slowest_s - mean_s;
  };
  for (std::size_t round = 0; round + 1 < k; ++round) run_step(round, /*reduces=*/true);
  for (std::size_t round = 0; round + 1 < k; ++round) run_step(round, /*reduces=*/false);
  return time;
}

// Nobody looks at the measured star: its messages follow each other.
class Unwatched final : public SumWatch {
 public:
  void sent(const SumMessage&, double, double) override {}
  void round_ended() override {}
};

// The measured ring, as work on one lane per device.
class RingLanes final : public SumWatch {
 public:
  explicit RingLanes(LessonStage& stage) : stage_(stage) {}
  void sent(const SumMessage& message, double begin_s, double seconds) override {
    stage_.span({trf("device {}", message.from),
                 message.adds ? tr("send a partial sum") : tr("send a sum"), begin_s,
                 begin_s + seconds, false});
  }
  void round_ended() override {}

 private:
  LessonStage& stage_;
};

// One stage per round, with the values of all devices.
class SumFrames final : public SumWatch {
 public:
  SumFrames(LessonStage& stage, const SumDevices& devices, std::string sequence)
      : stage_(stage), devices_(devices), sequence_(std::move(sequence)) {
    emit(tr("Every device has its own values; all need the sums"));
  }
  void sent(const SumMessage& message, double, double) override { moved_.push_back(message); }
  void round_ended() override {
    const SumMessage& first = moved_.front();
    emit(moved_.size() == 1
             ? first.adds ? trf("Device {} sends its values to device {}, which adds them",
                                first.from, first.to)
                          : trf("Device {} sends the sums to device {}", first.from, first.to)
         : first.adds
             ? tr("Every device sends a chunk to its neighbour, which adds it")
             : tr("Every device sends a finished chunk to its neighbour, which takes it over"));
  }

 private:
  void emit(std::string title) {
    LessonFrame frame{.sequence = sequence_, .step = step_++, .title = std::move(title)};
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      const std::vector<float>& values = devices_.array(i);
      frame.rows.push_back({.name = trf("device {}", i), .values = {values.begin(), values.end()}});
    }
    for (const SumMessage& m : moved_) {
      frame.moves.push_back({m.from, m.to, static_cast<std::size_t>(m.begin),
                             static_cast<std::size_t>(m.end - m.begin), m.adds});
    }
    moved_.clear();
    stage_.frame(std::move(frame));
  }

  LessonStage& stage_;
  const SumDevices& devices_;
  const std::string sequence_;
  std::vector<SumMessage> moved_;  // in this round
  int step_ = 0;
};

}  // namespace

std::vector<float> array_to_sum(std::size_t device, std::int64_t elements) {
  std::vector<float> array(static_cast<std::size_t>(elements));
  for (std::size_t j = 0; j < array.size(); ++j) {
    array[j] = static_cast<float>((j + 5 * device) % 17);
  }
  return array;
}

std::vector<float> exact_sum(std::size_t devices, std::int64_t elements) {
  return SumDevices(arrays_to_sum(devices, elements)).exact_sum();
}

void show_sums(LessonStage& stage, const std::vector<std::vector<float>>& values) {
  SumDevices star(values), ring(values);
  const std::vector<float> sum = star.exact_sum();
  SumFrames star_frames(stage, star, LAB_TEXT("Star"));
  sum_by_star(stage, star, star_frames);
  SumFrames ring_frames(stage, ring, LAB_TEXT("Ring"));
  sum_by_ring(stage, ring, ring_frames);
  stage.check(tr("star and ring end with the exact sums of the values shown"),
              star.equals(sum) && ring.equals(sum));
}

namespace {

struct LinkConstants {
  double latency_s = 0, bytes_per_s = 0;
  bool disturbed = false;
};

// Messages between changing devices, so that their arrays are not in the caches.
LinkConstants measure_message(LessonStage& stage) {
  SumDevices many(8);
  std::size_t next = 0;
  LinkConstants link;
  const auto message = [&](std::int64_t elements, bool add) {
    const Timing time = stage.time([&] {
      many.send(next % 8, (next + 1) % 8, 0, elements, add);
      ++next;
    });
    link.disturbed = link.disturbed || is_disturbed(time);
    return time.median_s;
  };
  link.latency_s = message(1, true);
  // Half of the messages of a sum are added.
  const double whole_s = (message(kSumElements, true) + message(kSumElements, false)) / 2;
  link.bytes_per_s = 4.0 * kSumElements / std::max(1e-9, whole_s - link.latency_s);
  return link;
}

void predict_time(LessonStage& stage, const std::string& series, const LinkConstants& link,
                  double messages, double bytes, const std::string& formula) {
  LessonPrediction prediction;
  prediction.series = series;
  prediction.value = messages * (link.latency_s + bytes / link.bytes_per_s);
  prediction.unit = "s";
  prediction.formula = formula;
  prediction.constants = {{tr("latency"), link.latency_s, "s"},
                          {tr("bandwidth"), link.bytes_per_s, "B/s"}};
  stage.predict(prediction);
}

// The time of the sum that is shown, with the range of that and some more.
Timing time_sums(double shown_s, std::size_t k, FunctionRef<double(SumDevices&)> sum) {
  constexpr int kMore = 2;
  std::vector<double> times = {shown_s};
  for (int i = 0; i < kMore; ++i) {
    SumDevices again(k);
    times.push_back(sum(again));
  }
  Timing time = summarise(times);
  time.median_s = shown_s;
  time.p10_s = time.min_s;  // the ranks nearest to p10 and p90
  time.p90_s = time.max_s;
  return time;
}

void run_allreduce_lesson(LessonStage& stage) {
  if (!stage.context().ranks().single()) return sum_over_ranks(stage);
  const auto k = static_cast<std::size_t>(stage.vary());
  const double devices = static_cast<double>(k);
  const double bytes = 4.0 * kSumElements;
  const LinkConstants link = measure_message(stage);
  LessonPrediction per_device;
  per_device.series = tr("sent by each device of the ring");
  per_device.value = 2 * (devices - 1) / devices * bytes;
  per_device.unit = "B";
  per_device.formula = "2 (k - 1) / k * N";
  per_device.constants = {{"k", devices, ""}, {"N", bytes, "B"}};
  stage.predict(per_device);
  predict_time(stage, tr("star"), link, 2 * (devices - 1), bytes,
               tr("2 (k - 1) * (latency + N / bandwidth)"));
  const std::string ring_name = tr("ring, its links at once (modelled)");
  predict_time(stage, ring_name, link, 2 * (devices - 1), bytes / devices,
               tr("2 (k - 1) * (latency + N / k / bandwidth)"));

  stage.step(0);
  SumDevices star(k);
  const std::vector<float> sum = star.exact_sum();
  Unwatched unwatched;
  const Timing star_time =
      time_sums(sum_by_star(stage, star, unwatched), k,
                [&](SumDevices& again) { return sum_by_star(stage, again, unwatched); });
  stage.sample({.series = tr("star"), .value = star_time.median_s, .unit = "s", .time = star_time});
  stage.count(tr("received by the hub of the star"), star.traffic.received[0], "B");
  stage.count(tr("sent by the hub of the star"), star.traffic.sent[0], "B");
  stage.check(tr("every device of the star holds the exact sum"), star.equals(sum));
  stage.check(tr("the hub receives and sends (k - 1) N"),
              star.traffic.received[0] == (devices - 1) * bytes &&
                  star.traffic.sent[0] == (devices - 1) * bytes);
  stage.step(1);
  SumDevices ring(k);
  RingLanes lanes(stage);
  const RingTime ring_time = sum_by_ring(stage, ring, lanes);
  const double ring_s = ring_time.total_s;
  const Timing time = time_sums(
      ring_s, k, [&](SumDevices& again) { return sum_by_ring(stage, again, unwatched).total_s; });
  stage.sample({.series = ring_name, .value = ring_s, .unit = "s", .time = time});
  const double most = *std::max_element(ring.traffic.sent.begin(), ring.traffic.sent.end());
  stage.count(per_device.series, most, "B");
  stage.check(tr("every device of the ring holds the exact sum"), ring.equals(sum));
  // Chunks differ by at most one element.
  stage.check(tr("each device of the ring sends 2 (k - 1) / k N"),
              std::abs(most - per_device.value) <= 8 * devices);
  stage.answer({most});
  sum_over_gpus(stage);
  show_sums(stage, arrays_to_sum(k, static_cast<std::int64_t>(k)));
  stage.gap({per_device.series, "B", per_device.value, most, {}});
  const double predicted_s =
      2 * (devices - 1) * (link.latency_s + bytes / devices / link.bytes_per_s);
  LessonGap time_gap{ring_name, "s", predicted_s, ring_s, {{tr("waiting"), ring_time.waiting_s}}};
  time_gap.modelled = true;
  if (link.disturbed || is_unsteady(time)) {
    stage.gap(unsteady(std::move(time_gap)));
  } else {
    stage.gap(std::move(time_gap));
  }
  stage.conclude(
      trf("To sum {} on each of {} devices, the hub of the star sent and received {} each, every "
          "device of the ring {} each.",
          format_bytes(std::llround(bytes)), k,
          format_bytes(std::llround(star.traffic.received[0])), format_bytes(std::llround(most))));
  stage.explain(trf(
      "The star took {} as measured, the ring {} as modelled: its messages were timed one after "
      "another, and those of one step count as simultaneous, as on links of their own.",
      time_text(star_time), time_text(time)));
  if (is_unsteady(star_time) || is_unsteady(time)) {
    stage.warn(
        tr("The times of the sums vary by more than a quarter; the bytes do not depend on them."));
  }
}

}  // namespace

Lesson allreduce_lesson() {
  LessonInfo info;
  info.name = "allreduce";
  info.timed = false;
  info.title = LAB_TEXT("Summing over k devices");
  info.track = LessonTrack::SeveralDevices;
  info.text = {
      LAB_TEXT(
          "After backward, every device holds a gradient of its own, and every device needs the "
          "sum. The book's training from scratch, one section earlier, copies all gradients to "
          "device 0, adds them there and copies the sum back."),
      LAB_TEXT(
          "That hub moves (k - 1) N bytes in and as many out, while all others wait. A ring cuts "
          "the "
          "arrays into k chunks: each device sends a chunk to its neighbour in each of 2 (k - 1) "
          "steps."),
      LAB_TEXT("No device of the ring sends more than 2 N bytes, however many there are, but there "
               "are more "
               "messages to pay for."),
      LAB_TEXT("In the window, one process sums for all devices. mpirun -n 2 device-lab lesson "
               "allreduce sums over processes instead.")};
  info.over_ranks = true;
  info.steps = {
      {LAB_TEXT("A star: everything through device 0"),
       {"data[0] += data[i].to(data[0].device)", "data[0][:] += data[i].copyto(data[0].ctx)",
        "tf.add_n(grads)", "sum(grads)", "sum_by_star(devices)"}},
      {LAB_TEXT("A ring: reduce-scatter, then all-gather"),
       {"dist.all_reduce(grad)", "kvstore.pushpull('0', grad)", "tf.distribute.NcclAllReduce()",
        "jax.lax.psum(grad, 'devices')", "sum_by_ring(devices)"}}};
  info.question = {
      .text = LAB_TEXT("How many bytes does each device of a ring of {} send to sum 4 MiB?"),
      .unit = "B",
      .low = 1024,
      .high = 1 << 30,
      .why = LAB_TEXT("Each device of the ring sends a k-th of the array in each of 2 (k - 1) "
                      "steps: with k = 4, six times 1 MiB of 4 MiB.")};
  info.vary = LessonVary{LAB_TEXT("Devices k"), "", 2, 16, 4, false, true};
  StartScaling free;
  free.training.model = "lenet";
  info.free = free;
  info.set_free = [](JobCommand& command, double k) {
    std::get<StartScaling>(command).predict_devices = static_cast<int>(k);
  };
  return {info, run_allreduce_lesson};
}

}  // namespace lab::lessons
