// Lesson "allreduce" under mpirun: the trainer's sums over MPI's messages between processes. Each
// rank adds its chunk of all arrays and sends the sums to the others, which moves as many bytes and
// messages as a ring.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <span>
#include <thread>
#include <vector>

#include "compute/core/language.h"
#include "compute/core/units.h"
#include "compute/experiments/lessons/several_devices/allreduce_parts.h"
#include "compute/measure/statistics.h"
#include "compute/run/rank_group.h"

namespace lab::lessons {
namespace {

constexpr int kRankRounds = 9;  // the same on every rank

// Collective calls of one lesson. Every rank makes the same ones.
class RankSums {
 public:
  explicit RankSums(LessonStage& stage)
      : stage_(stage), ranks_(stage.context().ranks()), wait_{stage.context().stop_token(), {}} {}

  std::size_t size() const { return static_cast<std::size_t>(ranks_.size()); }
  std::size_t rank() const { return static_cast<std::size_t>(ranks_.rank()); }
  std::string name(std::size_t rank) const {
    return trf("rank {} on {}", rank, ranks_.hosts()[rank]);
  }

  // The values of all ranks, by rank.
  std::vector<std::vector<float>> gather(std::span<const float> values) {
    std::vector<std::vector<float>> all;
    for (const std::vector<std::byte>& bytes : ranks_.all_gather(std::as_bytes(values), wait_)) {
      all.emplace_back(bytes.size() / sizeof(float));
      std::memcpy(all.back().data(), bytes.data(), bytes.size());
    }
    return all;
  }

  void sum(std::span<float> values) {
    const std::unique_ptr<PendingSum> pending = ranks_.start_sum(values);
    while (!pending->test()) {
      stage_.context().throw_if_cancelled();
      std::this_thread::yield();
    }
  }

  // This rank's median time of `work`, which all ranks begin together after `prepare`.
  template <typename Prepare, typename Work>
  double time(const Prepare& prepare, const Work& work) {
    std::vector<double> seconds;
    for (int round = 0; round <= kRankRounds; ++round) {
      prepare();
      gather({});
      const double begin_s = monotonic_s();
      work();
      if (round > 0) seconds.push_back(monotonic_s() - begin_s);
    }
    return median(seconds);
  }

  // This rank's median time of a sum of `elements` elements.
  double time_sum(std::int64_t elements) {
    std::vector<float> values(static_cast<std::size_t>(elements), 0.0F);
    return time([] {}, [&] { sum(values); });
  }

 private:
  LessonStage& stage_;
  RankGroup& ranks_;
  const RankWait wait_;
};

struct RankConstants {
  double latency_s = 0, bytes_per_s = 0;  // of a message
  // 2 (k - 1) messages of a k-th of the bytes.
  double sum_s(double k, double bytes) const {
    return 2 * (k - 1) * (latency_s + bytes / k / bytes_per_s);
  }
};

// From sums of k elements and of a quarter of all.
RankConstants measure_rank_messages(RankSums& sums) {
  const auto k = static_cast<double>(sums.size());
  const double messages = 2 * (k - 1);
  RankConstants constants;
  constants.latency_s = sums.time_sum(static_cast<std::int64_t>(sums.size())) / messages;
  const double large_s = sums.time_sum(kSumElements / 4) / messages;
  constants.bytes_per_s = static_cast<double>(kSumElements) / k /  // 4 bytes each
                          std::max(1e-9, large_s - constants.latency_s);
  return constants;
}

// The first value of each of the k chunks.
std::vector<float> chunk_heads(const std::vector<float>& values, std::size_t k) {
  std::vector<float> heads;
  heads.reserve(k);
  for (std::size_t chunk = 0; chunk < k; ++chunk)
    heads.push_back(values[values.size() * chunk / k]);
  return heads;
}

// Every rank receives all arrays and adds them itself.
void sum_gathered(LessonStage& stage, RankSums& sums, const std::vector<float>& mine,
                  const std::vector<float>& expected) {
  std::vector<float> total;
  const double seconds = sums.time([] {},
                                   [&] {
                                     const auto all = sums.gather(mine);
                                     total.assign(mine.size(), 0.0F);
                                     for (const std::vector<float>& array : all) {
                                       for (std::size_t j = 0; j < total.size(); ++j)
                                         total[j] += array[j];
                                     }
                                   });
  stage.count(tr("every rank receives all arrays and adds them"), seconds, "s");
  stage.count(tr("received by each rank then"),
              static_cast<double>(sums.size() - 1) * 4.0 * kSumElements, "B");
  stage.check(tr("the sum of the arrays received is exact"), total == expected);
}

}  // namespace

void sum_over_ranks(LessonStage& stage) {
  RankSums sums(stage);
  const std::size_t k = sums.size();
  const auto count = static_cast<double>(k);
  const double bytes = 4.0 * kSumElements;
  const RankConstants constants = measure_rank_messages(sums);
  LessonPrediction prediction;
  prediction.series = tr("reduce-scatter and all-gather");
  prediction.value = constants.sum_s(count, bytes);
  prediction.unit = "s";
  prediction.formula = tr("2 (k - 1) * (latency + N / k / bandwidth)");
  prediction.constants = {{"k", count, ""},
                          {tr("latency"), constants.latency_s, "s"},
                          {tr("bandwidth"), constants.bytes_per_s, "B/s"}};
  stage.predict(prediction);

  const std::vector<float> mine = array_to_sum(sums.rank(), kSumElements);
  const std::vector<float> expected = exact_sum(k, kSumElements);
  stage.step(0);
  sum_gathered(stage, sums, mine, expected);
  stage.step(1);
  std::vector<float> values = mine;
  const auto own = static_cast<float>(sums.time([&] { values = mine; }, [&] { sums.sum(values); }));
  std::vector<float> all_s;
  for (const std::vector<float>& one : sums.gather({&own, 1})) all_s.push_back(one.at(0));
  for (std::size_t i = 0; i < k; ++i) {
    stage.count(trf("reduce-scatter and all-gather, {}", sums.name(i)),
                static_cast<double>(all_s[i]), "s");
  }
  const double sum_s = *std::max_element(all_s.begin(), all_s.end());
  stage.count(trf("{}, slowest rank", prediction.series), sum_s, "s");
  const double sent = 2 * (count - 1) / count * bytes;
  stage.count(tr("sent by each rank"), sent, "B");
  stage.check(tr("every rank holds the exact sum"), values == expected);
  if (count == stage.vary()) stage.answer({sent});
  stage.gap({prediction.series, "s", prediction.value, sum_s, {}});
  show_sums(stage, sums.gather(chunk_heads(mine, k)));
  stage.conclude(
      trf("For {} ranks and {} each, reduce-scatter and all-gather took {}; each rank "
          "sent {}, as much as in a ring.",
          k, format_bytes(std::llround(bytes)), format_seconds(sum_s),
          format_bytes(std::llround(sent))));
  stage.explain(trf("To add all arrays itself, each rank received {}.",
                    format_bytes(std::llround((count - 1) * bytes))));
}

}  // namespace lab::lessons
