// Lesson "allreduce": a star sends everything through one device, a ring shares the work.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "compute/core/units.h"
#include "compute/experiments/lessons/several_devices/several_device_lessons.h"

namespace lab::lessons {
namespace {

constexpr std::int64_t kElements = std::int64_t{1} << 20;  // float32 per device: 4 MiB

// What an algorithm moved, per device.
struct Traffic {
  std::vector<double> sent, received;  // bytes
  std::int64_t messages = 0;
  explicit Traffic(std::size_t k) : sent(k), received(k) {}
};

// k devices, each with its own array; small whole numbers, so that every sum is exact.
class SumDevices {
 public:
  explicit SumDevices(std::size_t k) : traffic(k), arrays_(k), inbox_(k) {
    for (std::size_t i = 0; i < k; ++i) {
      arrays_[i].resize(kElements);
      inbox_[i].resize(kElements);
      for (std::int64_t j = 0; j < kElements; ++j) {
        arrays_[i][static_cast<std::size_t>(j)] =
            static_cast<float>((j + 5 * static_cast<std::int64_t>(i)) % 17);
      }
    }
  }

  std::size_t size() const { return arrays_.size(); }

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
    std::vector<float> sum(kElements, 0.0F);
    for (const std::vector<float>& array : arrays_) {
      for (std::size_t j = 0; j < sum.size(); ++j) sum[j] += array[j];
    }
    return sum;
  }

  Traffic traffic;

 private:
  std::vector<std::vector<float>> arrays_, inbox_;
};

// All devices send to device 0, which sends the sum back. Its link is used by one message at a
// time.
double sum_by_star(LessonStage& stage, SumDevices& devices) {
  double seconds = 0;
  for (std::size_t i = 1; i < devices.size(); ++i) {
    stage.context().checkpoint();
    seconds += devices.send(i, 0, 0, kElements, true);
  }
  for (std::size_t i = 1; i < devices.size(); ++i) {
    stage.context().checkpoint();
    seconds += devices.send(0, i, 0, kElements, false);
  }
  return seconds;
}

// Reduce-scatter, then all-gather: in each of 2(k-1) steps every device sends one chunk to its
// neighbour. The messages of a step use different links, so the step lasts as long as the slowest.
struct RingTime {
  double total_s = 0;
  double waiting_s = 0;  // for the slowest message of each step
};
RingTime sum_by_ring(LessonStage& stage, SumDevices& devices) {
  const std::size_t k = devices.size();
  const auto chunk_begin = [k](std::size_t chunk) {
    return kElements * static_cast<std::int64_t>(chunk) / static_cast<std::int64_t>(k);
  };
  RingTime time;
  const auto run_step = [&](std::size_t round, bool reduces) {
    double slowest_s = 0, mean_s = 0;
    for (std::size_t i = 0; i < k; ++i) {
      stage.context().checkpoint();
      // The chunk that device i received in the step before; at first its own.
      const std::size_t chunk = (i + (reduces ? 0 : 1) + k - round) % k;
      const double seconds =
          devices.send(i, (i + 1) % k, chunk_begin(chunk), chunk_begin(chunk + 1), reduces);
      stage.span({fmt::format("device {}", i), reduces ? "send a partial sum" : "send a sum",
                  time.total_s, time.total_s + seconds, false});
      slowest_s = std::max(slowest_s, seconds);
      mean_s += seconds / static_cast<double>(k);
    }
    time.total_s += slowest_s;
    time.waiting_s += slowest_s - mean_s;
  };
  for (std::size_t round = 0; round + 1 < k; ++round) run_step(round, /*reduces=*/true);
  for (std::size_t round = 0; round + 1 < k; ++round) run_step(round, /*reduces=*/false);
  return time;
}

struct LinkConstants {
  double latency_s = 0, bytes_per_s = 0;
};

// Messages between changing devices, so that their arrays are not in the caches.
LinkConstants measure_message(LessonStage& stage) {
  SumDevices many(8);
  std::size_t next = 0;
  const auto message = [&](std::int64_t elements, bool add) {
    return stage
        .time([&] {
          many.send(next % 8, (next + 1) % 8, 0, elements, add);
          ++next;
        })
        .median_s;
  };
  LinkConstants link;
  link.latency_s = message(1, true);
  // Half of the messages of a sum are added.
  const double whole_s = (message(kElements, true) + message(kElements, false)) / 2;
  link.bytes_per_s = 4.0 * kElements / std::max(1e-9, whole_s - link.latency_s);
  return link;
}

void predict_time(LessonStage& stage, const std::string& series, const LinkConstants& link,
                  double messages, double bytes, const std::string& formula) {
  LessonPrediction prediction;
  prediction.series = series;
  prediction.value = messages * (link.latency_s + bytes / link.bytes_per_s);
  prediction.unit = "s";
  prediction.formula = formula;
  prediction.constants = {{"latency", link.latency_s, "s"}, {"bandwidth", link.bytes_per_s, "B/s"}};
  stage.predict(prediction);
}

void run_allreduce_lesson(LessonStage& stage) {
  const auto k = static_cast<std::size_t>(stage.vary());
  const double devices = static_cast<double>(k);
  const double bytes = 4.0 * kElements;
  const LinkConstants link = measure_message(stage);
  LessonPrediction per_device;
  per_device.series = "sent by each device of the ring";
  per_device.value = 2 * (devices - 1) / devices * bytes;
  per_device.unit = "B";
  per_device.formula = "2 (k - 1) / k * N";
  per_device.constants = {{"k", devices, ""}, {"N", bytes, "B"}};
  stage.predict(per_device);
  predict_time(stage, "star", link, 2 * (devices - 1), bytes,
               "2 (k - 1) * (latency + N / bandwidth)");
  predict_time(stage, "ring", link, 2 * (devices - 1), bytes / devices,
               "2 (k - 1) * (latency + N / k / bandwidth)");

  stage.step(0);
  SumDevices star(k);
  const std::vector<float> sum = star.exact_sum();
  const double star_s = sum_by_star(stage, star);
  stage.count("star", star_s, "s");
  stage.count("received and sent by the hub of the star",
              star.traffic.received[0] + star.traffic.sent[0], "B");
  stage.check("every device of the star holds the exact sum", star.equals(sum));
  stage.check("the hub receives and sends (k - 1) N",
              star.traffic.received[0] == (devices - 1) * bytes &&
                  star.traffic.sent[0] == (devices - 1) * bytes);
  stage.step(1);
  SumDevices ring(k);
  const RingTime ring_time = sum_by_ring(stage, ring);
  const double ring_s = ring_time.total_s;
  stage.count("ring", ring_s, "s");
  const double most = *std::max_element(ring.traffic.sent.begin(), ring.traffic.sent.end());
  stage.count(per_device.series, most, "B");
  stage.check("every device of the ring holds the exact sum", ring.equals(sum));
  // Chunks differ by at most one element.
  stage.check("each device of the ring sends 2 (k - 1) / k N",
              std::abs(most - per_device.value) <= 8 * devices);
  stage.answer({most});
  stage.gap({per_device.series, "B", per_device.value, most, {}});
  const double predicted_s =
      2 * (devices - 1) * (link.latency_s + bytes / devices / link.bytes_per_s);
  stage.gap({"ring", "s", predicted_s, ring_s, {{"waiting", ring_time.waiting_s}}});
  stage.conclude(fmt::format(
      "For {} devices and {} each, the hub of the star moved {} and any device of the ring {}; the "
      "star took {}, the ring {} if every link carries its own messages.",
      k, format_bytes(std::llround(bytes)),
      format_bytes(std::llround(star.traffic.received[0] + star.traffic.sent[0])),
      format_bytes(std::llround(2 * most)), format_seconds(star_s), format_seconds(ring_s)));
}

}  // namespace

Lesson allreduce_lesson() {
  LessonInfo info;
  info.name = "allreduce";
  info.title = "Summing over k devices";
  info.track = LessonTrack::SeveralDevices;
  info.text = {
      "After backward, every device holds a gradient of its own, and every device needs the sum. "
      "The chapter copies all gradients to device 0, adds them there and copies the sum back.",
      "That hub moves (k - 1) N bytes in and as many out, while all others wait. A ring cuts the "
      "arrays into k chunks: each device sends a chunk to its neighbour in each of 2 (k - 1) "
      "steps.",
      "No device of the ring sends more than 2 N bytes, however many there are, but there are more "
      "messages to pay for."};
  info.steps = {
      {"A star: everything through device 0",
       {"data[0] += data[i].to(data[0].device)", "data[0][:] += data[i].copyto(data[0].ctx)",
        "tf.add_n(grads)", "sum(grads)", "sum_by_star(devices)"}},
      {"A ring: reduce-scatter, then all-gather",
       {"dist.all_reduce(grad)", "kvstore.pushpull('0', grad)", "tf.distribute.NcclAllReduce()",
        "jax.lax.psum(grad, 'devices')", "sum_by_ring(devices)"}}};
  info.question = {.text = "How many bytes does each device of a ring of 4 send to sum 4 MiB?",
                   .unit = "B",
                   .low = 1024,
                   .high = 1 << 30};
  info.vary = LessonVary{"Devices k", "", 2, 16, 4, false};
  StartScaling free;
  free.training.model = "lenet";
  info.free = free;
  return {info, run_allreduce_lesson};
}

}  // namespace lab::lessons
