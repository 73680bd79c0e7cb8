#pragma once
// One forward or backward pass: what every operation needs beside its own values.
#include <cstdint>
#include <stop_token>

#include "compute/core/events/kernels.h"
#include "compute/core/precision.h"
#include "compute/kernels/convolution/chooser.h"
#include "compute/machine/scratch.h"
#include "compute/machine/slice.h"
#include "compute/machine/thread_pool.h"

namespace lab::nn {

// What a network is to be prepared for.
struct Preparation {
  ThreadPool& pool;
  std::int64_t max_batch = 1;
  Precision products = Precision::F32;
  ConvolutionChooser& chooser;
  bool library = false;  // for the library's kernels too
};

struct Pass {
  ThreadPool& pool;
  std::int64_t batch = 0;  // images in this pass, at most the network's largest batch
  bool training = true;    // batch statistics, or the running ones
  Kernels kernels = Kernels::Lab;
  Precision products = Precision::F32;  // BF16: factors of matrix products are rounded to it
  Scratch scratch;
  std::stop_token stop;  // long operations look at it and return early
};

}  // namespace lab::nn
