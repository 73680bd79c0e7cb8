#include "tests/support/fake_gpu/fake_transfers.h"

#include <cstring>

#include "tests/support/fake_gpu/fake_stream.h"

namespace lab::test {
namespace {

// Host time to queue work behind a gate; longer than other streams need to finish theirs.
constexpr double kHostQueues_s = 1e-3;

class FakeGate final : public GpuGate {
 public:
  explicit FakeGate(FakeGpu& gpu) : gpu_(gpu) {}
  ~FakeGate() override { *closed_ = false; }
  void close(GpuStream& stream) override {
    gpu_.enter("close_gate");
    spend(stream, kHostQueues_s);
    *closed_ = true;
    static_cast<FakeStream&>(stream).hold(closed_);
  }
  void open() noexcept override { *closed_ = false; }
  bool timed_out() const override { return gpu_.faults.gates_give_up; }

 private:
  FakeGpu& gpu_;
  std::shared_ptr<bool> closed_ = std::make_shared<bool>(false);
};

double seconds_of(std::int64_t words, double passes, const FakeCosts& costs) {
  return costs.call_s + 4.0 * static_cast<double>(words) * passes / costs.memory_bytes_per_s;
}

}  // namespace

std::unique_ptr<GpuGate> FakeTransfers::make_gate() {
  gpu_.enter("make_gate");
  return std::make_unique<FakeGate>(gpu_);
}

void FakeTransfers::copy_by_kernel(std::uint32_t* to, const std::uint32_t* from, std::int64_t words,
                                   int sharers, GpuStream& stream) {
  gpu_.enter("copy_by_kernel");
  gpu_.move_bytes(to, from, 4 * words);
  FakeCosts costs = gpu_.costs;
  if (costs.l2_bytes_per_s > 0 && 8 * words <= gpu_.facts().l2_bytes)
    costs.memory_bytes_per_s = costs.l2_bytes_per_s;
  spend(stream, seconds_of(words, 2.0 * sharers, costs));
}

void FakeTransfers::fill_pattern(std::uint32_t* to, std::int64_t words, std::uint32_t seed,
                                 GpuStream& stream) {
  gpu_.enter("fill_pattern");
  gpu_.require_mine(to, 4 * words);
  for (std::int64_t i = 0; i < words; ++i) to[i] = pattern_word(i, seed);
  spend(stream, seconds_of(words, 1, gpu_.costs));
}

void FakeTransfers::count_mismatches(const std::uint32_t* at, std::int64_t words,
                                     std::uint32_t seed, std::uint64_t* count, GpuStream& stream) {
  gpu_.enter("count_mismatches");
  gpu_.require_mine(at, 4 * words);
  gpu_.require_mine(count, sizeof *count);
  for (std::int64_t i = 0; i < words; ++i) *count += at[i] != pattern_word(i, seed) ? 1 : 0;
  spend(stream, seconds_of(words, 1, gpu_.costs));
}

void FakeTransfers::chase(const std::uint32_t* next, std::uint32_t* position, std::int64_t hops,
                          GpuStream& stream) {
  gpu_.enter("chase");
  gpu_.require_mine(position, sizeof *position);
  for (std::int64_t hop = 0; hop < hops; ++hop) *position = next[*position];
  spend(stream, gpu_.costs.call_s + gpu_.costs.hop_s * static_cast<double>(hops));
}

void FakeTransfers::work(std::int64_t rounds, float* sink, GpuStream& stream) {
  gpu_.enter("work");
  gpu_.require_mine(sink, 4 * work_words());
  spend(stream, gpu_.costs.call_s + 1e-8 * static_cast<double>(rounds));
}

}  // namespace lab::test
