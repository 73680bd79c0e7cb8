#pragma once
// A stage of a convolution as a oneDNN primitive, with the conversions between the lab's arrays and
// the formats that the primitive uses.
#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "compute/kernels/convolution/algorithm.h"
#include "oneapi/dnnl/dnnl.hpp"

namespace lab {

// The arrays of a stage, named by role rather than direction: in the weight gradient, `weight` is
// the output. Inputs are not modified.
struct StageArrays {
  float* image = nullptr;   // x or dx
  float* weight = nullptr;  // weight or d_weight
  float* result = nullptr;  // y or dy
  float* bias = nullptr;    // only for a forward stage constructed with a bias
};

// Not thread-safe: the memory objects hold the addresses of the latest call.
class OnednnStage {
 public:
  // Divides the work among the threads that OpenMP currently gives the caller. Throws dnnl::error.
  OnednnStage(const ConvolutionCase& c, bool with_bias, const dnnl::engine& engine);

  // Scratch memory that run() needs, 64-byte aligned.
  std::int64_t scratch_bytes() const { return scratch_bytes_; }

  // Adds to the output instead of overwriting it if `accumulate`, which only input gradients
  // support. Throws dnnl::error.
  void run(const StageArrays& arrays, bool accumulate, std::byte* scratch, dnnl::stream& stream);

 private:
  // One of the three arrays, with its conversion.
  struct Operand {
    dnnl::memory ours, theirs;  // the array, and the primitive's view of it
    bool converts = false;      // `ours` and `theirs` differ in format or type
    bool output = false;
    dnnl::primitive convert;  // between the two
    dnnl::primitive add;      // input gradient: adds `theirs` to `ours`
    std::int64_t offset = 0;  // of `theirs` in scratch, in bytes
  };

  template <typename PrimitiveDesc>
  void take(const PrimitiveDesc& desc, const dnnl::memory::desc (&theirs)[3],
            const int (&roles)[3]);
  void connect(Operand& operand, const dnnl::memory::desc& theirs);
  std::int64_t take_scratch(std::size_t bytes);

  const dnnl::engine engine_;
  const ConvolutionStage stage_;
  dnnl::primitive primitive_;
  std::array<Operand, 3> operands_;  // image, weight, result
  dnnl::memory bias_, scratchpad_;
  std::int64_t scratchpad_offset_ = 0;
  std::int64_t scratch_bytes_ = 0;
  std::unordered_map<int, dnnl::memory> arguments_;
};

}  // namespace lab
