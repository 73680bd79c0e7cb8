#include "tests/compute/gpu/cuda/matmul/emulated.h"

#include <algorithm>
#include <exception>
#include <span>

#include "tests/support/simt/global_array.h"
#include "tests/support/simt/launch.h"

namespace lab::test {

template <class T>
bool takes(const Kernel<T>& kernel, const Factors<T>& in) {
  constexpr std::int64_t kPiece = 16 / sizeof(T);
  return !kernel.aligned || (in.lda % kPiece == 0 && in.ldb % kPiece == 0 && in.ldc % 4 == 0 &&
                             in.shape.n % kPiece == 0);
}

template <class T>
std::vector<float> run(const Kernel<T>& kernel, const Factors<T>& in, const Order& order) {
  GuardedC guarded(in.shape, in.ldc);
  simt::GlobalArray<T> a("a", std::span<const T>(in.a)), b("b", std::span<const T>(in.b));
  simt::GlobalArray<float> c("c", std::span<const float>(guarded.memory()));
  const auto args = args_of<T>(product_of(in, a.data(), b.data(), c.data()));
  const auto blocks = tiles_of(kernel.tiling, in.shape.m, in.shape.n);
  if (blocks > 0) {
    const int dynamic = kernel.dynamic_shared ? kernel.tiling.shared_bytes() : 0;
    try {
      simt::launch({.grid = {static_cast<int>(blocks)},
                    .block = {kernel.tiling.threads()},
                    .dynamic_shared_bytes = static_cast<std::size_t>(dynamic),
                    .arrays = {a.input(), b.input(), c},
                    .last_thread_first = order.last_thread_first},
                   [&] { kernel.body(args); });
    } catch (const std::exception& fault) {
      ADD_FAILURE() << fault.what();
    }
  }
  std::copy(c.values().begin(), c.values().end(), guarded.memory().begin());
  return guarded.take();
}

template bool takes(const Kernel<float>&, const Factors<float>&);
template bool takes(const Kernel<std::uint16_t>&, const Factors<std::uint16_t>&);
template std::vector<float> run(const Kernel<float>&, const Factors<float>&, const Order&);
template std::vector<float> run(const Kernel<std::uint16_t>&, const Factors<std::uint16_t>&,
                                const Order&);

}  // namespace lab::test
