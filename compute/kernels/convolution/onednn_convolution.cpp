// Convolution by oneDNN: by Winograd's F(4x4,3x3) where oneDNN has it, it pays and is exact enough,
// otherwise directly, on channels-last images where that is faster than converting them.
//   f32     sums are f32; Winograd's rounding errors exceed those of a direct sum, as in the lab's
//           own algorithms
//   bf16    images and weights are converted on each call; sums and results are f32
// Limits    cases for which oneDNN has kernels on this processor
// Threads   each calling thread has its own primitives, so callers do not wait for each other
// Errors    Unsupported with the case and oneDNN's message and status
#include <algorithm>
#include <vector>

#include "compute/core/error.h"
#include "compute/core/language.h"
#include "compute/kernels/convolution/algorithm.h"
#include "compute/kernels/convolution/onednn_stage.h"
#include "compute/kernels/gemm/onednn_threads.h"
#include "hwy/aligned_allocator.h"

namespace lab {
namespace {

using simd::ConvShape;

// The primitives and spare memory of the calling thread.
class StageCache {
 public:
  // `c.threads` must be the number of threads that OpenMP gives the caller.
  OnednnStage& stage(const ConvolutionCase& c, bool with_bias) {
    for (Entry& entry : entries_) {
      if (entry.c == c && entry.with_bias == with_bias) return entry.stage;
    }
    if (entries_.size() >= kMax) entries_.clear();
    return entries_.emplace_back(Entry{c, with_bias, OnednnStage(c, with_bias, engine_)}).stage;
  }
  dnnl::stream& stream() { return stream_; }

  // Memory for a batch that needs more than the caller's scratch, which is sized for the largest
  // one.
  std::byte* spare(std::int64_t bytes) {
    if (bytes > spare_bytes_) {
      spare_ = hwy::AllocateAligned<std::byte>(static_cast<std::size_t>(bytes));
      if (!spare_) throw std::bad_alloc();
      spare_bytes_ = bytes;
    }
    return spare_.get();
  }

 private:
  static constexpr std::size_t kMax = 512;  // several networks with several batch sizes
  struct Entry {
    ConvolutionCase c;
    bool with_bias;
    OnednnStage stage;
  };
  const dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  std::vector<Entry> entries_;
  hwy::AlignedFreeUniquePtr<std::byte[]> spare_;
  std::int64_t spare_bytes_ = 0;
};

StageCache& cache() {
  thread_local StageCache own;
  return own;
}

// Runs body() and rethrows oneDNN's errors as Error(Errc::Unsupported).
template <typename Body>
auto translate_errors(const ConvolutionCase& c, const Body& body) {
  try {
    return body();
  } catch (const dnnl::error& e) {
    throw Error(Errc::Unsupported,
                trf("convolution: oneDNN cannot compute the {} of {}: {} (status {}); choose the "
                    "lab's kernels",
                    tr(to_string(c.stage)), describe(c), e.message, int{e.status}));
  }
}

void run(const ConvolutionCase& c, const ConvolutionContext& context, const StageArrays& arrays,
         bool accumulate = false) {
  if (c.batch == 0 || context.stop.stop_requested()) return;
  use_onednn_threads(&context.pool, OnednnTeam::MayHaveChanged);
  translate_errors(c, [&] {
    OnednnStage& stage = cache().stage(c, arrays.bias != nullptr);
    const std::int64_t bytes = stage.scratch_bytes();
    std::byte* const scratch =
        bytes <= context.scratch.bytes ? context.scratch.data : cache().spare(bytes);
    stage.run(arrays, accumulate, scratch, cache().stream());
  });
}

// oneDNN takes non-const pointers even to arrays that it does not modify.
float* unchanged(const float* data) {
  return const_cast<float*>(data);
}

class OnednnConvolution final : public ConvolutionAlgorithm {
 public:
  const char* name() const override { return "library"; }
  bool supports(const ConvolutionCase& c) const override {
    return c.products == Precision::F32 || c.products == Precision::BF16;
  }
  std::int64_t scratch_bytes(const ConvolutionCase& c) const override {
    set_onednn_threads(c.threads);
    return translate_errors(c, [&] {
      std::int64_t bytes = cache().stage(c, false).scratch_bytes();
      if (c.stage == ConvolutionStage::Forward) {
        bytes = std::max(bytes, cache().stage(c, true).scratch_bytes());
      }
      return bytes;
    });
  }

  void forward(const ConvShape& shape, const ConvolutionContext& context, const float* x,
               const float* weight, const float* bias, float* y) const override {
    run(case_of(shape, ConvolutionStage::Forward, context), context,
        {.image = unchanged(x), .weight = unchanged(weight), .result = y, .bias = unchanged(bias)});
  }
  void input_gradient(const ConvShape& shape, const ConvolutionContext& context, const float* dy,
                      const float* weight, float* dx, bool accumulate) const override {
    run(case_of(shape, ConvolutionStage::InputGradient, context), context,
        {.image = dx, .weight = unchanged(weight), .result = unchanged(dy)}, accumulate);
  }
  void weight_gradient(const ConvShape& shape, const ConvolutionContext& context, const float* x,
                       const float* dy, float* d_weight) const override {
    if (context.batch == 0) std::fill(d_weight, d_weight + shape.weights(), 0.0F);
    run(case_of(shape, ConvolutionStage::WeightGradient, context), context,
        {.image = unchanged(x), .weight = d_weight, .result = unchanged(dy)});
  }
};

}  // namespace

const ConvolutionAlgorithm& library_convolution() {
  static const OnednnConvolution algorithm;
  return algorithm;
}

}  // namespace lab
