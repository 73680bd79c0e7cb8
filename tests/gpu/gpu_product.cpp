#include "tests/gpu/gpu_product.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tests/gpu/gpu_machine.h"

namespace lab::test {
namespace {

// An array on the GPU; its operations are ordered on `stream`.
template <class T>
class OnGpu {
 public:
  OnGpu(const std::vector<T>& values, GpuStream& stream)
      : stream_(stream), bytes_(static_cast<std::int64_t>(values.size() * sizeof(T))) {
    memory_ = first_gpu().allocate(std::max<std::int64_t>(bytes_, 1), stream_);
    copy(GpuCopy::HostToDevice, memory_, values.data());
  }
  ~OnGpu() { first_gpu().release(memory_, stream_); }
  OnGpu(const OnGpu&) = delete;
  OnGpu& operator=(const OnGpu&) = delete;
  T* data() const { return reinterpret_cast<T*>(memory_); }
  void copy_to(std::vector<T>& values) const {
    copy(GpuCopy::DeviceToHost, values.data(), memory_);
  }

 private:
  void copy(GpuCopy direction, void* to, const void* from) const {
    if (bytes_ > 0) first_gpu().copy(direction, to, from, bytes_, stream_);
    stream_.synchronise();
  }

  GpuStream& stream_;
  const std::int64_t bytes_;
  std::byte* memory_ = nullptr;
};

template <class T>
std::optional<std::string> try_operands(const MatmulOperands<T>& in, double bound,
                                        const Multiply& multiply) {
  const auto stream = first_gpu().make_stream();
  const OnGpu<T> a(in.a, *stream), b(in.b, *stream);
  GuardedC guarded(in.shape, in.ldc);
  const OnGpu<float> c(guarded.memory(), *stream);
  if (auto why = multiply(product_of(in, a.data(), b.data(), c.data()), *stream)) return why;
  c.copy_to(guarded.memory());
  EXPECT_TRUE(within(in, guarded.take(), bound));
  return std::nullopt;
}

}  // namespace

GpuDevice& first_gpu() {
  return *gpu_machine().at(gpu()).gpu();
}

std::optional<std::string> try_product(Precision precision, const Mnk& shape, std::int64_t gap,
                                       Values values, const Multiply& multiply) {
  SCOPED_TRACE(to_string(shape) + " gap " + std::to_string(gap));
  const double bound = values == Values::SmallIntegers ? 0 : bound_of(precision, shape.k);
  if (storage_of(precision) == DType::BF16) {
    return try_operands(make_operands<std::uint16_t>(shape, gap, values), bound, multiply);
  }
  return try_operands(make_operands<float>(shape, gap, values), bound, multiply);
}

std::optional<std::string> try_ragged_products(Precision precision, const Multiply& multiply) {
  bool taken = false;
  std::optional<std::string> why;
  for (const std::int64_t gap : {0, 8}) {
    for (const Mnk& shape : kRaggedShapes) {
      auto refused = try_product(precision, shape, gap, Values::SmallIntegers, multiply);
      if (!refused) taken = true;
      if (refused) why = std::move(refused);
    }
  }
  return taken ? std::nullopt : why;
}

}  // namespace lab::test
