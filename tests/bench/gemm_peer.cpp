// Times the sgemm of a library that bench_gemm_shapes is not linked with, on its request. A process
// of its own keeps the library's symbols and threads apart from those of other versions.
//
//     bench_gemm_shapes --peer "NAME=bench_gemm_peer LIBRARY" ...
//
// Prints one line that names the contenders, then answers each line
// "CONTENDER M N K SECONDS median|fastest|mean" with that statistic of the seconds per call over a
// slice of about SECONDS, or with the reason why there is none. Contenders:
//   sgemm    dnnl_sgemm, or the BLAS function sgemm_
//   matmul   oneDNN's matmul primitive on row-major matrices, created before the timing (oneDNN 3)
// The library's own environment variables set its threads and instructions.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <iostream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "compute/core/error.h"
#include "compute/gpu/dynamic_library.h"
#include "compute/tensor/random.h"
#include "tests/bench/call_time.h"
#include "tests/support/product_shape.h"

namespace {

using lab::bench::Statistic;
using lab::test::ProductShape;

// Declarations of oneDNN 3. Its header is not used: it may be that of another version.
struct OneDnn {
  using Handle = void*;
  using Dims = std::array<std::int64_t, 12>;
  struct Version {
    int major, minor, patch;
    const char* hash;
    unsigned cpu_runtime, gpu_runtime;
  };
  struct Argument {
    int index;
    Handle memory;
  };
  static constexpr int kCpu = 1, kInOrder = 1, kF32 = 3;
  static constexpr int kSource = 1, kWeights = 33, kDestination = 17;
  static constexpr unsigned kSycl = 512;

  const Version* (*version)();
  int (*engine_create)(Handle*, int kind, std::size_t index);
  int (*stream_create)(Handle*, Handle engine, unsigned flags);
  int (*memory_desc_create)(Handle*, int ndims, const std::int64_t* dims, int type,
                            const std::int64_t* strides);
  int (*matmul_desc_create)(Handle*, Handle engine, Handle source, Handle weights, Handle bias,
                            Handle destination, Handle attributes);
  int (*primitive_create)(Handle*, Handle desc);
  int (*memory_create)(Handle*, Handle desc, Handle engine, void* data);
  int (*execute)(Handle primitive, Handle stream, int count, const Argument* arguments);
  int (*wait)(Handle stream);
};

using DnnlSgemm = int (*)(char, char, std::int64_t m, std::int64_t n, std::int64_t k, float alpha,
                          const float* a, std::int64_t lda, const float* b, std::int64_t ldb,
                          float beta, float* c, std::int64_t ldc);
using BlasSgemm = void (*)(const char*, const char*, const int* m, const int* n, const int* k,
                           const float* alpha, const float* a, const int* lda, const float* b,
                           const int* ldb, const float* beta, float* c, const int* ldc);

void require(int status, const char* what) {
  if (status != 0) {
    throw lab::Error(lab::Errc::Unsupported, fmt::format("{} returned {}", what, status));
  }
}

// Row-major operands of one product, uniform in [-1, 1).
struct Operands {
  explicit Operands(const ProductShape& s)
      : shape(s),
        a(static_cast<std::size_t>(s.m * s.k)),
        b(static_cast<std::size_t>(s.k * s.n)),
        c(static_cast<std::size_t>(s.m * s.n), NAN) {
    std::uint64_t stream = 1;
    for (std::vector<float>* matrix : {&a, &b}) {
      lab::RandomStream{7, stream++}.fill_uniform(*matrix);
      for (float& value : *matrix) value = 2 * value - 1;
    }
  }

  // Compares the corners and the middle of C with sums in float64. Throws if one is wrong.
  void verify() const {
    for (const std::int64_t row : {std::int64_t{0}, shape.m / 2, shape.m - 1}) {
      for (const std::int64_t col : {std::int64_t{0}, shape.n / 2, shape.n - 1}) {
        double sum = 0, magnitude = 0;
        for (std::int64_t i = 0; i < shape.k; ++i) {
          const double term = double{a[static_cast<std::size_t>(row * shape.k + i)]} *
                              double{b[static_cast<std::size_t>(i * shape.n + col)]};
          sum += term;
          magnitude += std::abs(term);
        }
        const double error = std::abs(c[static_cast<std::size_t>(row * shape.n + col)] - sum);
        if (!(error <= 6e-8 * static_cast<double>(shape.k + 1) * magnitude)) {
          throw lab::Error(lab::Errc::Internal,
                           fmt::format("C[{},{}] is {:.3g} from float64", row, col, error));
        }
      }
    }
  }

  ProductShape shape;
  std::vector<float> a, b, c;
};

// Prepares the product for repeated calls; the operands must outlive the result.
using Prepare = std::function<std::function<void()>(Operands&)>;

std::function<void()> prepare_matmul(const OneDnn& dnnl, Operands& o) {
  using Handle = OneDnn::Handle;
  // Handles live as long as the process: few, and the process ends with the comparison.
  static const Handle engine = [&] {
    Handle made = nullptr;
    require(dnnl.engine_create(&made, OneDnn::kCpu, 0), "dnnl_engine_create");
    return made;
  }();
  static const Handle stream = [&] {
    Handle made = nullptr;
    require(dnnl.stream_create(&made, engine, OneDnn::kInOrder), "dnnl_stream_create");
    return made;
  }();
  const auto desc = [&](std::int64_t rows, std::int64_t cols) {
    const OneDnn::Dims dims{rows, cols}, strides{cols, 1};
    Handle made = nullptr;
    require(dnnl.memory_desc_create(&made, 2, dims.data(), OneDnn::kF32, strides.data()),
            "dnnl_memory_desc_create_with_strides");
    return made;
  };
  const auto memory = [&](Handle of, std::vector<float>& data) {
    Handle made = nullptr;
    require(dnnl.memory_create(&made, of, engine, data.data()), "dnnl_memory_create");
    return made;
  };
  const auto& [m, n, k] = o.shape;
  const Handle a = desc(m, k), b = desc(k, n), c = desc(m, n);
  Handle product = nullptr, primitive = nullptr;
  require(dnnl.matmul_desc_create(&product, engine, a, b, nullptr, c, nullptr),
          "dnnl_matmul_primitive_desc_create");
  require(dnnl.primitive_create(&primitive, product), "dnnl_primitive_create");
  const std::array<OneDnn::Argument, 3> arguments{{{OneDnn::kSource, memory(a, o.a)},
                                                   {OneDnn::kWeights, memory(b, o.b)},
                                                   {OneDnn::kDestination, memory(c, o.c)}}};
  return [&dnnl, primitive, arguments] {
    require(dnnl.execute(primitive, stream, static_cast<int>(arguments.size()), arguments.data()),
            "dnnl_primitive_execute");
    require(dnnl.wait(stream), "dnnl_stream_wait");
  };
}

std::function<void()> prepare_dnnl_sgemm(DnnlSgemm sgemm, Operands& o) {
  return [sgemm, &o] {
    const auto& [m, n, k] = o.shape;
    require(sgemm('N', 'N', m, n, k, 1, o.a.data(), k, o.b.data(), n, 0, o.c.data(), n),
            "dnnl_sgemm");
  };
}

// BLAS is column-major: C' = B' A'.
std::function<void()> prepare_blas_sgemm(BlasSgemm sgemm, Operands& o) {
  return [sgemm, &o] {
    const int m = static_cast<int>(o.shape.m), n = static_cast<int>(o.shape.n);
    const int k = static_cast<int>(o.shape.k);
    const float one = 1, zero = 0;
    sgemm("N", "N", &n, &m, &k, &one, o.b.data(), &n, o.a.data(), &k, &zero, o.c.data(), &n);
  };
}

std::map<std::string, Prepare> contenders(const lab::DynamicLibrary& library) {
  std::map<std::string, Prepare> found;
  if (const auto sgemm = library.function<DnnlSgemm>("dnnl_sgemm")) {
    found["sgemm"] = [sgemm](Operands& o) { return prepare_dnnl_sgemm(sgemm, o); };
  } else if (const auto blas = library.function<BlasSgemm>("sgemm_")) {
    found["sgemm"] = [blas](Operands& o) { return prepare_blas_sgemm(blas, o); };
  }
  static const OneDnn dnnl{
      library.function<decltype(OneDnn::version)>("dnnl_version"),
      library.function<decltype(OneDnn::engine_create)>("dnnl_engine_create"),
      library.function<decltype(OneDnn::stream_create)>("dnnl_stream_create"),
      library.function<decltype(OneDnn::memory_desc_create)>(
          "dnnl_memory_desc_create_with_strides"),
      library.function<decltype(OneDnn::matmul_desc_create)>("dnnl_matmul_primitive_desc_create"),
      library.function<decltype(OneDnn::primitive_create)>("dnnl_primitive_create"),
      library.function<decltype(OneDnn::memory_create)>("dnnl_memory_create"),
      library.function<decltype(OneDnn::execute)>("dnnl_primitive_execute"),
      library.function<decltype(OneDnn::wait)>("dnnl_stream_wait")};
  // Built for SYCL, its primitives run on a queue of an OpenCL device, not on the caller's cores.
  if (dnnl.version != nullptr && dnnl.version()->major == 3 &&
      dnnl.version()->cpu_runtime != OneDnn::kSycl) {
    found["matmul"] = [](Operands& o) { return prepare_matmul(dnnl, o); };
  }
  return found;
}

double seconds_per_call(const Prepare& prepare, Operands& operands, double slice_s,
                        Statistic statistic) {
  const std::function<void()> multiply = prepare(operands);
  multiply();
  operands.verify();
  return lab::bench::seconds_per_call(multiply, slice_s, statistic);
}

void serve(const std::map<std::string, Prepare>& found) {
  for (const auto& [name, prepare] : found) std::cout << name << ' ';
  std::cout << std::endl;
  std::string line;
  while (std::getline(std::cin, line)) {
    std::istringstream words(line);
    std::string name, statistic;
    ProductShape shape;
    double slice_s = 0;
    words >> name >> shape.m >> shape.n >> shape.k >> slice_s >> statistic;
    try {
      const auto contender = found.find(name);
      if (contender == found.end()) {
        throw lab::Error(lab::Errc::InvalidArgument, fmt::format("no contender '{}'", name));
      }
      const std::optional<Statistic> wanted = lab::bench::statistic_named(statistic);
      if (!wanted) {
        throw lab::Error(lab::Errc::InvalidArgument, fmt::format("no statistic '{}'", statistic));
      }
      Operands operands(shape);
      std::cout << fmt::format("{:.9f}",
                               seconds_per_call(contender->second, operands, slice_s, *wanted));
    } catch (const std::exception& error) {
      std::cout << error.what();
    }
    std::cout << std::endl;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: bench_gemm_peer LIBRARY\n");
    return 2;
  }
  const auto library = lab::DynamicLibrary::open({argv[1]});
  if (!library) {
    fmt::print(stderr, "bench_gemm_peer: cannot open {}\n", library.reason());
    return 1;
  }
  const std::map<std::string, Prepare> found = contenders(*library);
  if (found.empty()) {
    fmt::print(stderr, "bench_gemm_peer: {} has neither dnnl_sgemm nor sgemm_\n", argv[1]);
    return 1;
  }
  serve(found);
  return 0;
}
