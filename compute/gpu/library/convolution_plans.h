#pragma once
// cuDNN's algorithm, workspace and descriptors for each pass of a convolution, chosen once per
// shape and kept.
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "compute/gpu/gpu_layers.h"
#include "compute/gpu/library/library_calls.h"

namespace lab::library {

enum class ConvolutionPass { Forward, InputGradient, WeightGradient };
inline constexpr std::array kConvolutionPasses = {
    ConvolutionPass::Forward, ConvolutionPass::InputGradient, ConvolutionPass::WeightGradient};

// "convolution of [256,28,28,64] to 128 channels, kernel 3, stride 2, padding 1, tf32".
std::string describe(const GpuConvolution& c);

struct PassPlan {
  int algorithm = 0;
  std::int64_t workspace_bytes = 0;
  Owned<CudnnConvolution> convolution;
};

class ConvolutionPlans {
 public:
  // `calls` must outlive the plans.
  ConvolutionPlans(LibraryCalls& calls, std::int64_t workspace_limit_bytes)
      : calls_(calls), limit_bytes_(workspace_limit_bytes) {}

  // The largest workspace of the passes, chosen within the limit.
  std::int64_t workspace_bytes(const GpuConvolution& c);

  // The fastest deterministic algorithm by cuDNN's heuristics that needs at most `workspace_bytes`.
  // F32 rounds no operand. Throws Error(Unsupported) if there is none. A new choice is an error
  // while the stream is recorded. Valid until the next call.
  const PassPlan& plan(const GpuConvolution& c, ConvolutionPass pass, std::int64_t workspace_bytes);
  const CudnnFilter* filter(const GpuConvolution& c);

 private:
  using Key = std::array<std::int64_t, 9>;
  struct Plan {
    Owned<CudnnFilter> filter;
    std::array<std::optional<PassPlan>, 3> passes;
  };
  Plan& find(const GpuConvolution& c);
  std::optional<PassPlan> choose(const GpuConvolution& c, const CudnnFilter* filter,
                                 ConvolutionPass pass, std::int64_t limit_bytes);

  LibraryCalls& calls_;
  const std::int64_t limit_bytes_;
  std::map<Key, Plan> plans_;
};

}  // namespace lab::library
