// Operations that are recorded and run as a graph.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "compute/gpu/gpu_backend.h"
#include "tests/gpu/gpu_machine.h"

namespace lab {
namespace {

constexpr std::int64_t kCount = 1000;

GpuDevice& graph_gpu() {
  return *test::gpu_machine().at(gpu()).gpu();
}

// A number in GPU memory, repeated, to which additions and a sigmoid can be queued.
class Numbers {
 public:
  explicit Numbers(GpuStream& stream) : stream_(stream) {
    for (std::byte*& array : arrays_) array = graph_gpu().allocate(kBytes, stream);
    graph_gpu().fill({.kind = GpuFillKind::Arange, .to = arrays_[0], .count = kCount}, stream);
    graph_gpu().fill({.kind = GpuFillKind::Arange, .to = arrays_[1], .count = kCount}, stream);
  }
  ~Numbers() {
    for (std::byte* array : arrays_) graph_gpu().release(array, stream_);
  }
  Numbers(const Numbers&) = delete;
  Numbers& operator=(const Numbers&) = delete;

  // numbers += 0, 1, 2, ...; then relu, a kernel that may be launched for the first time.
  void step() {
    graph_gpu().add({.x = arrays_[0], .y = arrays_[1], .z = arrays_[0], .count = kCount}, stream_);
    graph_gpu().layers().activation_forward(
        {.count = kCount, .x = reinterpret_cast<float*>(arrays_[0])}, stream_);
  }

  // Whether element i is i * factor.
  bool are(float factor) {
    std::vector<float> values(kCount);
    graph_gpu().copy(GpuCopy::DeviceToHost, values.data(), arrays_[0], kBytes, stream_);
    stream_.synchronise();
    std::int64_t i = 0;
    return std::all_of(values.begin(), values.end(),
                       [&](float value) { return value == factor * static_cast<float>(i++); });
  }

 private:
  static constexpr std::int64_t kBytes = kCount * 4;
  GpuStream& stream_;
  std::byte* arrays_[2] = {};
};

TEST(GpuGraph, RunsWhatWasRecordedEachTimeItIsLaunched) {
  LAB_REQUIRE_GPU();
  const auto stream = graph_gpu().make_stream();
  Numbers numbers(*stream);
  ASSERT_TRUE(numbers.are(1));
  graph_gpu().begin_recording(*stream);
  numbers.step();
  numbers.step();
  const auto graph = graph_gpu().end_recording(*stream);
  EXPECT_TRUE(numbers.are(1)) << "recording ran the operations";
  graph->launch(*stream);
  EXPECT_TRUE(numbers.are(3));
  graph->launch(*stream);
  graph->launch(*stream);
  EXPECT_TRUE(numbers.are(7));
}

TEST(GpuGraph, AbandonedRecordingLeavesTheStreamUsable) {
  LAB_REQUIRE_GPU();
  const auto stream = graph_gpu().make_stream();
  Numbers numbers(*stream);
  graph_gpu().abandon_recording(*stream);
  graph_gpu().begin_recording(*stream);
  numbers.step();
  graph_gpu().abandon_recording(*stream);
  EXPECT_TRUE(numbers.are(1));
  numbers.step();
  EXPECT_TRUE(numbers.are(2));
}

}  // namespace
}  // namespace lab
