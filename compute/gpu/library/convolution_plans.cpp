#include "compute/gpu/library/convolution_plans.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compute/core/error.h"
#include "compute/core/language.h"
#include "compute/core/units.h"

namespace lab::library {
namespace {

constexpr std::size_t kMaxPlans = 1024;
constexpr int kAlgorithms = 16;  // more than any pass has

const char* query_of(ConvolutionPass pass) {
  switch (pass) {
    case ConvolutionPass::InputGradient: return "cudnnGetConvolutionBackwardDataAlgorithm_v7";
    case ConvolutionPass::WeightGradient: return "cudnnGetConvolutionBackwardFilterAlgorithm_v7";
    case ConvolutionPass::Forward: break;
  }
  return "cudnnGetConvolutionForwardAlgorithm_v7";
}

// The queries of one pass with their arguments in cuDNN's order.
class PassQueries {
 public:
  PassQueries(LibraryCalls& calls, const GpuConvolution& c, const CudnnFilter* w,
              const CudnnConvolution* convolution, ConvolutionPass pass)
      : calls_(calls),
        x_(calls.tensor(c.images, c.in_c, c.in_h, c.in_w)),
        y_(calls.tensor(c.images, c.out_c, c.out_h, c.out_w)),
        w_(w),
        convolution_(convolution),
        pass_(pass) {}

  CudnnStatus algorithms(int* found, CudnnAlgorithm* results) const {
    const CudnnFunctions& f = calls_.dnn;
    CudnnContext* const handle = calls_.dnn_handle();
    switch (pass_) {
      case ConvolutionPass::InputGradient:
        return f.data_algorithms(handle, w_, y_, convolution_, x_, kAlgorithms, found, results);
      case ConvolutionPass::WeightGradient:
        return f.filter_algorithms(handle, x_, y_, convolution_, w_, kAlgorithms, found, results);
      case ConvolutionPass::Forward: break;
    }
    return f.forward_algorithms(handle, x_, w_, convolution_, y_, kAlgorithms, found, results);
  }

  CudnnStatus workspace(int algorithm, std::size_t* bytes) const {
    const CudnnFunctions& f = calls_.dnn;
    CudnnContext* const handle = calls_.dnn_handle();
    switch (pass_) {
      case ConvolutionPass::InputGradient:
        return f.data_workspace(handle, w_, y_, convolution_, x_, algorithm, bytes);
      case ConvolutionPass::WeightGradient:
        return f.filter_workspace(handle, x_, y_, convolution_, w_, algorithm, bytes);
      case ConvolutionPass::Forward: break;
    }
    return f.forward_workspace(handle, x_, w_, convolution_, y_, algorithm, bytes);
  }

 private:
  LibraryCalls& calls_;
  const CudnnTensor *x_, *y_;
  const CudnnFilter* w_;
  const CudnnConvolution* convolution_;
  const ConvolutionPass pass_;
};

// The mode in which an algorithm computes in this precision; nothing if it would round further.
std::optional<CudnnMath> math_of(const CudnnAlgorithm& algorithm, Precision precision) {
  if (algorithm.math == CudnnMath::TensorOpAllowConversion) return std::nullopt;  // to FP16
  if (precision != Precision::F32) return algorithm.math;
  if (algorithm.math == CudnnMath::TensorOp) return std::nullopt;
  return CudnnMath::Fma;
}

}  // namespace

std::string describe(const GpuConvolution& c) {
  return trf("convolution of [{},{},{},{}] to {} channels, kernel {}, stride {}, padding {}, {}",
             c.images, c.in_h, c.in_w, c.in_c, c.out_c, c.kernel, c.stride, c.padding,
             to_string(c.precision));
}

ConvolutionPlans::Plan& ConvolutionPlans::find(const GpuConvolution& c) {
  const Key key = {c.images, c.in_h,    c.in_w,
                   c.in_c,   c.out_c,   c.kernel,
                   c.stride, c.padding, static_cast<std::int64_t>(c.precision)};
  const auto found = plans_.find(key);
  if (found != plans_.end()) return found->second;
  if (plans_.size() >= kMaxPlans) plans_.clear();
  Plan plan{calls_.make_filter(c.out_c, c.in_c, c.kernel), {}};
  return plans_.emplace(key, std::move(plan)).first->second;
}

const CudnnFilter* ConvolutionPlans::filter(const GpuConvolution& c) {
  return find(c).filter.get();
}

std::int64_t ConvolutionPlans::workspace_bytes(const GpuConvolution& c) {
  Plan& plan = find(c);
  std::int64_t most = 0;
  for (const ConvolutionPass pass : kConvolutionPasses) {
    auto& chosen = plan.passes.at(static_cast<std::size_t>(pass));
    if (!chosen) chosen = choose(c, plan.filter.get(), pass, limit_bytes_);
    if (chosen) most = std::max(most, chosen->workspace_bytes);
  }
  return most;
}

const PassPlan& ConvolutionPlans::plan(const GpuConvolution& c, ConvolutionPass pass,
                                       std::int64_t workspace_bytes) {
  const std::int64_t limit_bytes = std::min(workspace_bytes, limit_bytes_);
  Plan& plan = find(c);
  auto& chosen = plan.passes.at(static_cast<std::size_t>(pass));
  if (!chosen || chosen->workspace_bytes > limit_bytes) {
    chosen = choose(c, plan.filter.get(), pass, limit_bytes);
  }
  if (chosen) return *chosen;
  throw Error(Errc::Unsupported,
              trf("{} offers no deterministic algorithm within a workspace of {} for a {}; use a "
                  "smaller batch, or choose --kernels lab",
                  query_of(pass), format_bytes(limit_bytes), describe(c)));
}

std::optional<PassPlan> ConvolutionPlans::choose(const GpuConvolution& c, const CudnnFilter* filter,
                                                 ConvolutionPass pass, std::int64_t limit_bytes) {
  const auto sizes = [&] { return describe(c); };
  const CudnnFunctions& f = calls_.dnn;
  Owned<CudnnConvolution> convolution = calls_.make_convolution(c.padding, c.stride);
  const CudnnMath asked = c.precision == Precision::F32 ? CudnnMath::Fma : CudnnMath::Default;
  calls_.check(f.set_math(convolution.get(), asked), "cudnnSetConvolutionMathType", sizes);
  const PassQueries queries(calls_, c, filter, convolution.get(), pass);
  std::array<CudnnAlgorithm, kAlgorithms> results{};
  int found = 0;
  calls_.check(queries.algorithms(&found, results.data()), query_of(pass), sizes);
  for (int i = 0; i < found; ++i) {
    const CudnnAlgorithm& result = results.at(static_cast<std::size_t>(i));
    if (result.status != CudnnStatus::Success ||
        result.determinism != CudnnDeterminism::Deterministic) {
      continue;
    }
    const auto math = math_of(result, c.precision);
    if (!math) continue;
    calls_.check(f.set_math(convolution.get(), *math), "cudnnSetConvolutionMathType", sizes);
    std::size_t bytes = 0;
    if (queries.workspace(result.algorithm, &bytes) != CudnnStatus::Success) continue;
    if (static_cast<std::int64_t>(bytes) > limit_bytes) continue;
    return PassPlan{result.algorithm, static_cast<std::int64_t>(bytes), std::move(convolution)};
  }
  return std::nullopt;
}

}  // namespace lab::library
