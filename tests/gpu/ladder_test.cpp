// Every rung of the CUDA ladder on a card: the cases that its body passes under the emulator, and a
// larger product.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <ostream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "compute/cuda/matmul/launch.h"
#include "tests/gpu/gpu_machine.h"
#include "tests/support/matmul_factors.h"

namespace lab {

void PrintTo(const CudaRung& rung, std::ostream* out) {
  *out << rung.name;
}

namespace test {
namespace {

void check(cudaError_t status) {
  if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

// Numbers on the card.
template <class T>
class OnCard {
 public:
  explicit OnCard(const std::vector<T>& values) : bytes_(values.size() * sizeof(T)) {
    check(cudaMalloc(&memory_, bytes_ == 0 ? sizeof(T) : bytes_));
    check(cudaMemcpy(memory_, values.data(), bytes_, cudaMemcpyHostToDevice));
  }
  ~OnCard() { cudaFree(memory_); }
  OnCard(const OnCard&) = delete;
  OnCard& operator=(const OnCard&) = delete;
  T* data() const { return static_cast<T*>(memory_); }
  void copy_to(std::vector<T>& values) const {
    check(cudaMemcpy(values.data(), memory_, bytes_, cudaMemcpyDeviceToHost));
  }

 private:
  std::size_t bytes_;
  void* memory_ = nullptr;
};

int attribute(cudaDeviceAttr which) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, which, 0));
  return value;
}

CardFacts first_card() {
  CardFacts card;
  card.name = "the card";
  card.compute_major = attribute(cudaDevAttrComputeCapabilityMajor);
  card.compute_minor = attribute(cudaDevAttrComputeCapabilityMinor);
  card.shared_bytes_per_block = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  return card;
}

// Whether the rung took the product; then C must be within the bound.
template <class T>
bool expect_product(const CudaRung& rung, const Factors<T>& in, double bound_of_terms) {
  const OnCard<T> a(in.a), b(in.b);
  GuardedC guarded(in.shape, in.ldc);
  const OnCard<float> c(guarded.memory());
  const MatmulOf<T> args{.m = in.shape.m,
                         .n = in.shape.n,
                         .k = in.shape.k,
                         .a = a.data(),
                         .lda = in.lda,
                         .b = b.data(),
                         .ldb = in.ldb,
                         .c = c.data() + GuardedC::kGuard,
                         .ldc = in.ldc};
  if (unsupported(rung, args, first_card())) return false;
  check(cuda_matmul::launch(rung.kernel, args, nullptr));
  check(cudaDeviceSynchronize());
  c.copy_to(guarded.memory());
  EXPECT_TRUE(within(in, guarded.take(), bound_of_terms));
  return true;
}

template <class T>
int expect_exact_products(const CudaRung& rung) {
  int taken = 0;
  for (const std::int64_t gap : {0, 8}) {
    for (const Mnk& shape : kRaggedShapes) {
      SCOPED_TRACE(to_string(shape) + " gap " + std::to_string(gap));
      taken += expect_product(rung, make_factors<T>(shape, gap, Values::SmallIntegers), 0);
    }
  }
  return taken;
}

double bound_of(const CudaRung& rung, std::int64_t terms) {
  switch (rung.factors) {
    case CudaFactors::F32: return gamma(terms);
    case CudaFactors::Tf32: return tf32_bound(terms);
    case CudaFactors::Bf16: return 2 * gamma(terms);
  }
  return 0;
}

class CudaRungOnCard : public ::testing::TestWithParam<CudaRung> {};

TEST_P(CudaRungOnCard, IsExactOnSmallIntegers) {
  LAB_REQUIRE_GPU();
  const CudaRung& rung = GetParam();
  const int taken = rung.factors == CudaFactors::Bf16 ? expect_exact_products<std::uint16_t>(rung)
                                                      : expect_exact_products<float>(rung);
  if (taken == 0) GTEST_SKIP() << rung.name << " takes none of these products on this card";
}

TEST_P(CudaRungOnCard, KeepsTheBoundOnRandomNumbers) {
  LAB_REQUIRE_GPU();
  const CudaRung& rung = GetParam();
  const Mnk shape{519, 776, 1000};  // a few tiles each way, none of them whole
  const double bound = bound_of(rung, shape.k);
  const bool taken =
      rung.factors == CudaFactors::Bf16
          ? expect_product(rung, make_factors<std::uint16_t>(shape, 0, Values::Uniform), bound)
          : expect_product(rung, make_factors<float>(shape, 0, Values::Uniform), bound);
  if (!taken) GTEST_SKIP() << rung.name << " does not run on this card";
}

INSTANTIATE_TEST_SUITE_P(Ladder, CudaRungOnCard,
                         ::testing::ValuesIn(cuda_ladder().begin(), cuda_ladder().end()),
                         [](const auto& rung) { return std::string(rung.param.name); });

}  // namespace
}  // namespace test
}  // namespace lab
