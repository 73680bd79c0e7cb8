#pragma once
// A stage of a convolution as a oneDNN primitive, with the conversions between our arrays and the
// formats that it computes in.
#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "compute/kernels/convolution/algorithm.h"
#include "oneapi/dnnl/dnnl.hpp"

namespace lab {

// The arrays of a stage by what they are, whoever reads or writes them: in the weight gradient
// `weight` is what is computed. Inputs are only read.
struct StageArrays {
  float* image = nullptr;   // x or dx
  float* weight = nullptr;  // weight or d_weight
  float* result = nullptr;  // y or dy
  float* bias = nullptr;    // of a forward stage that was made with one
};

// For one thread at a time: it keeps the addresses of its latest call.
class OnednnStage {
 public:
  // Divides its work by the threads that OpenMP gives the caller now. Throws dnnl::error.
  OnednnStage(const ConvolutionCase& c, bool with_bias, const dnnl::engine& engine);

  // Work memory of run(), on 64 bytes.
  std::int64_t scratch_bytes() const { return scratch_bytes_; }

  // Adds to the output's old content when `accumulate`, which is for input gradients alone. Throws
  // dnnl::error.
  void run(const StageArrays& arrays, bool accumulate, std::byte* scratch, dnnl::stream& stream);

 private:
  // One of the three arrays.
  struct Operand {
    dnnl::memory ours, theirs;  // the array, and what the primitive sees
    bool converts = false;      // they differ in format or type
    bool output = false;
    dnnl::primitive convert;  // from one to the other
    dnnl::primitive add;      // of an input gradient: their content added to ours
    std::int64_t offset = 0;  // of theirs in scratch memory
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
