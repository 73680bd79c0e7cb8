// C = A*B by oneDNN, on as many threads as the device has. FP32 uses dnnl_sgemm; bf16 uses the
// matmul primitive with FP32 sums, after reorder has rounded FP32 matrices to dense bf16 copies.
// Limits   any M,N,K >= 0
// Numerics FP32: |err| <= gamma_K*(|A||B|), gamma_K = K*u/(1-K*u); bf16 as bf16_gemm()
// Errors   Unsupported with oneDNN's message or status
#include <oneapi/dnnl/dnnl.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "compute/core/error.h"
#include "compute/core/language.h"
#include "compute/kernels/gemm/gemm_bf16.h"
#include "compute/kernels/gemm/gemm_parts.h"
#include "compute/kernels/gemm/onednn_descs.h"
#include "compute/kernels/gemm/onednn_threads.h"

namespace lab {
namespace {

constexpr std::size_t kPlans = 64;

// The parameters for which a primitive is created.
struct PlanKey {
  std::int64_t m, n, k, lda, ldb, ldc;
  bool a_transposed, b_transposed, accumulate;
  bool rounds;  // A and B are FP32
  int threads;
  bool operator==(const PlanKey&) const = default;
};

template <class Args>
PlanKey key_of(const Args& g, bool rounds, const ThreadPool* pool) {
  return {g.m,
          g.n,
          g.k,
          g.lda,
          g.ldb,
          g.ldc,
          g.a_transposed,
          g.b_transposed,
          g.accumulate,
          rounds,
          pool == nullptr ? 1 : pool->size()};
}

using dnnl::memory;

memory::desc matrix(std::int64_t rows, std::int64_t cols, std::int64_t ld, bool transposed,
                    memory::data_type type) {
  const memory::dims strides = transposed ? memory::dims{1, ld} : memory::dims{ld, 1};
  return memory::desc({rows, cols}, type, strides);
}

memory without_data(const memory::desc& desc, const dnnl::engine& engine) {
  return memory(desc, engine, nullptr);
}

// An operand as the primitive reads it, and its source if that is FP32.
struct Operand {
  memory rounded;
  std::optional<memory> source;
  std::optional<dnnl::reorder> round;

  Operand(std::int64_t rows, std::int64_t cols, std::int64_t ld, bool transposed, bool rounds,
          const dnnl::engine& engine)
      : rounded(without_data(rounds ? matrix(rows, cols, cols, false, memory::data_type::bf16)
                                    : matrix(rows, cols, ld, transposed, memory::data_type::bf16),
                             engine)) {
    if (!rounds) return;
    source = without_data(matrix(rows, cols, ld, transposed, memory::data_type::f32), engine);
    round.emplace(*source, rounded);
  }

  std::int64_t elements() const {
    return static_cast<std::int64_t>(rounded.get_desc().get_size() / sizeof(std::uint16_t));
  }
};

// A primitive with its memory objects; used by one thread at a time.
class Plan {
 public:
  explicit Plan(const PlanKey& key)
      : stream_(engine_),
        a_(key.m, key.k, key.lda, key.a_transposed, key.rounds, engine_),
        b_(key.k, key.n, key.ldb, key.b_transposed, key.rounds, engine_),
        c_(without_data(matrix(key.m, key.n, key.ldc, false, memory::data_type::f32), engine_)) {
    dnnl::primitive_attr attr;
    if (key.accumulate) {
      dnnl::post_ops sum;
      sum.append_sum(1.0F);
      attr.set_post_ops(sum);
    }
    product_ = dnnl::matmul(onednn_desc<dnnl::matmul>({.engine = engine_, .attributes = attr},
                                                      a_.rounded.get_desc(), b_.rounded.get_desc(),
                                                      c_.get_desc()));
  }

  // oneDNN takes non-const pointers even to arrays that it only reads.
  void run(const std::uint16_t* a, const std::uint16_t* b, float* c) {
    a_.rounded.set_data_handle(const_cast<std::uint16_t*>(a));
    b_.rounded.set_data_handle(const_cast<std::uint16_t*>(b));
    multiply(c);
  }
  void run(const float* a, const float* b, float* c) {
    round(a_, a, gemm_scratch().a);
    round(b_, b, gemm_scratch().b);
    multiply(c);
  }

 private:
  void round(Operand& operand, const float* source, PackingBuffer& buffer) {
    operand.rounded.set_data_handle(buffer.at_least<std::uint16_t>(operand.elements()));
    operand.source->set_data_handle(const_cast<float*>(source));
    operand.round->execute(stream_, *operand.source, operand.rounded);
  }
  void multiply(float* c) {
    c_.set_data_handle(c);
    product_.execute(
        stream_, {{DNNL_ARG_SRC, a_.rounded}, {DNNL_ARG_WEIGHTS, b_.rounded}, {DNNL_ARG_DST, c_}});
    stream_.wait();
  }

  const dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_;
  Operand a_, b_;
  memory c_;
  dnnl::matmul product_;
};

struct KeptPlan {
  PlanKey key;
  std::unique_ptr<Plan> plan;
};

// Creating a primitive takes milliseconds, so each thread keeps those it has used.
Plan& plan_for(const PlanKey& key) {
  thread_local std::vector<KeptPlan> kept;
  for (const KeptPlan& known : kept) {
    if (known.key == key) return *known.plan;
  }
  auto plan = std::make_unique<Plan>(key);
  if (kept.size() >= kPlans) kept.clear();
  return *kept.emplace_back(KeptPlan{key, std::move(plan)}).plan;
}

template <class Args>
void multiply_by_plan(const Args& args, bool rounds, const ThreadPool* pool) {
  if (finish_if_empty(args)) return;
  use_onednn_threads(pool);
  try {
    plan_for(key_of(args, rounds, pool)).run(args.a, args.b, args.c);
  } catch (const dnnl::error& e) {
    throw Error(
        Errc::Unsupported,
        trf("oneDNN: bf16 matmul of [{},{}] by [{},{}] failed: {}; choose the lab's kernels or f32",
            args.m, args.k, args.k, args.n, e.what()));
  }
}

}  // namespace

void onednn_bf16_gemm(const Bf16GemmArgs& args, const ThreadPool* pool) {
  check_gemm(args);
  multiply_by_plan(args, /*rounds=*/false, pool);
}

void onednn_gemm_of_rounded(const GemmArgs& args, const ThreadPool* pool) {
  multiply_by_plan(args, /*rounds=*/true, pool);
}

void onednn_gemm(const GemmArgs& args, const ThreadPool* pool) {
  if (args.products == Precision::BF16) return onednn_gemm_of_rounded(args, pool);
  if (finish_if_empty(args)) return;
  use_onednn_threads(pool);
  const dnnl_status_t status = dnnl_sgemm(
      args.a_transposed ? 'T' : 'N', args.b_transposed ? 'T' : 'N', args.m, args.n, args.k, 1.0F,
      args.a, args.lda, args.b, args.ldb, args.accumulate ? 1.0F : 0.0F, args.c, args.ldc);
  if (status != dnnl_success) {
    throw Error(Errc::Unsupported, trf("oneDNN: sgemm of [{},{}] by [{},{}] failed with status {}",
                                       args.m, args.k, args.k, args.n, int{status}));
  }
}

}  // namespace lab
