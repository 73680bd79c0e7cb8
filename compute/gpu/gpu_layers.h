#pragma once
// The operations of training a network on a GPU. All arrays are device memory; images are NHWC,
// [image, y, x, channel], and labels are bytes. Elements are FP32, except those of
// GpuActivations, which have a type.
//
// Every function is asynchronous on `stream` and deterministic: equal arguments on equal GPUs give
// equal bits. The lab's kernels sum in a fixed order, without atomics; library_layers.h states what
// NVIDIA's libraries guarantee.
//
// Errors   as in gpu_backend.h; Error(InvalidArgument) naming the operation and its sizes where
//          sizes are not positive, do not fit each other, or exceed 2^31 - 1 elements per array
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "compute/core/dtype.h"
#include "compute/gpu/gpu_activations.h"

namespace lab {

class GpuStream;

// ---- Batches

// In an order of images: marks one that is mirrored.
inline constexpr std::uint32_t kFlippedImage = std::uint32_t{1} << 31;

// Draws the order of the images of an epoch: a Fisher-Yates shuffle of 0, 1, ..., images - 1, then
// the marks kFlippedImage, each with probability one half. Same bits as BatchLoader's.
//   to [images]
struct GpuImageOrder {
  std::uint64_t seed = 0;
  // Numbers of Philox streams; absent: the file's order, and no image is mirrored.
  std::optional<std::uint64_t> shuffle_stream = {}, flip_stream = {};
  std::int64_t images = 0;
  std::uint32_t* to = nullptr;
  std::byte* workspace = nullptr;  // workspace_bytes(order), aligned to 4 bytes
};

// Takes images from a data set in GPU memory.
//   pixels [set, image_size] bytes   labels [set] bytes   order [set]
//   to_pixels [images, image_size] = pixels / 255         to_labels [images]
// Image i of the batch is number order[first + i] of the set, without the mark kFlippedImage, with
// which it is mirrored left to right.
struct GpuGather {
  const std::uint8_t* pixels = nullptr;
  const std::uint8_t* labels = nullptr;
  const std::uint32_t* order = nullptr;
  std::int64_t first = 0;
  std::int64_t images = 0, image_size = 0;
  std::int64_t width = 1;  // of an image; divides image_size
  float* to_pixels = nullptr;
  std::uint8_t* to_labels = nullptr;
};

// ---- Convolutions

// A 2-D convolution with a square kernel. A linear layer is a 1x1 convolution of images of one
// pixel.
//   x [images, in_h, in_w, in_c]   weight [out_c, kernel, kernel, in_c]   bias [out_c]
//   y [images, out_h, out_w, out_c], out = floor((in + 2 * padding - kernel) / stride) + 1
// Each function reads and writes only the members that it names, and scratch memory. Heights,
// widths, kernel and padding are at most kMaxSide.
struct GpuConvolution {
  static constexpr std::int64_t kMaxSide = 4096;

  std::int64_t images = 0;
  std::int64_t in_h = 1, in_w = 1, in_c = 0;
  std::int64_t out_h = 1, out_w = 1, out_c = 0;
  std::int64_t kernel = 1, stride = 1, padding = 0;
  // Operands are rounded to this precision; sums are FP32.
  Precision precision = Precision::F32;

  // x and dx are of one type, and so are y and dy.
  ConstGpuActivations x = {};
  const float* weight = nullptr;
  const std::uint16_t* bf16_weight = nullptr;  // weight rounded to bf16, if it is at hand
  const float* bias = nullptr;                 // null: none is added
  GpuActivations y = {};
  // Bits of the largest magnitudes of x and dy, if a batch norm has found them. Used with tf32.
  const std::uint32_t* x_largest = nullptr;
  const std::uint32_t* dy_largest = nullptr;

  ConstGpuActivations dy = {};
  GpuActivations dx = {};
  bool accumulate = false;  // dx += instead of dx =
  // Set for an input gradient that follows the weight gradient of the same GpuConvolution, with
  // nothing in between that uses the workspace: it still holds what the latter made of dy.
  bool after_weight_gradient = false;
  float* dweight = nullptr;
  float* dbias = nullptr;

  // Scratch memory, of at least GpuLayers::workspace_bytes(); no other operation may use it at the
  // same time. The lab's kernels do not read its size.
  std::byte* workspace = nullptr;
  std::int64_t workspace_bytes = 0;
  // Memory of at least GpuLayers::kept_bytes(), in which the forward pass leaves what it made of x
  // and weight for the gradients. All functions of a step get the same sizes and arrays.
  std::byte* kept = nullptr;
};

// ---- Batch norm

// Batch normalisation over the `rows` pixels of all images, then the addition of `residual` and a
// relu, where given.
//   x, y, residual, dx, dy, dresidual [rows, channels]   all other arrays [channels]
// x and dx are of one type, and so are all others of the first line. A bf16 array needs a number of
// channels that is a multiple of kBf16Width.
struct GpuBatchNorm {
  std::int64_t rows = 0, channels = 0;
  std::int64_t images = 1;  // to which the rows belong; changes no result
  bool training = true;     // true: the batch's statistics; false: the running statistics
  bool relu = false;
  float eps = 1e-5F, momentum = 0.1F;

  ConstGpuActivations x = {};
  ConstGpuActivations residual = {};  // null: none
  const float* weight = nullptr;
  const float* bias = nullptr;
  // The bias that the producer of x did not add. It shifts the running mean only. Null: none.
  const float* left_bias = nullptr;
  float* running_mean = nullptr;       // moved by `momentum` in training
  float* running_variance = nullptr;   // towards the unbiased variance
  float* mean = nullptr;               // of the pass; written in training, read by backward
  float* inverse_deviation = nullptr;  // likewise: 1 / sqrt(variance + eps)
  GpuActivations y = {};

  ConstGpuActivations dy = {};
  GpuActivations dx = {};         // overwritten; null: not computed
  GpuActivations dresidual = {};  // overwritten; null: not computed
  float* dweight = nullptr;
  float* dbias = nullptr;

  // Where the lab's kernels write the bits of the largest magnitudes of y and dx; null: nowhere.
  std::uint32_t* y_largest = nullptr;
  std::uint32_t* dx_largest = nullptr;

  std::byte* workspace = nullptr;  // as in GpuConvolution
  // With relu and a residual: memory of at least GpuLayers::kept_bytes(), in which forward leaves
  // for backward which elements of y are positive. Null: backward reads y. Both get the same
  // arrays.
  std::byte* kept = nullptr;
};

// ---- Elementwise operations and pooling

enum class GpuActivation { Relu, Sigmoid };

// x = f(x) in place; backward: dx = dx * f'(x), from the output in x.
struct GpuActivate {
  GpuActivation kind = GpuActivation::Relu;
  std::int64_t count = 0;
  float* x = nullptr;
  float* dx = nullptr;
};

// Average pooling without padding, out = floor((in - kernel) / stride) + 1. With `sigmoid`, x is
// first replaced by its sigmoid, in place, and backward multiplies by its derivative.
//   x, dx [images, in_h, in_w, channels], of one type   y, dy [images, out_h, out_w, channels]
struct GpuAveragePool {
  std::int64_t images = 0, in_h = 0, in_w = 0, channels = 0;
  std::int64_t kernel_h = 1, kernel_w = 1, stride = 1;
  bool sigmoid = false;
  GpuActivations x = {};  // FP32 with `sigmoid`
  float* y = nullptr;
  const float* dy = nullptr;
  GpuActivations dx = {};
  bool accumulate = false;  // dx += instead of dx =; not with `sigmoid`

  std::int64_t out_h() const { return (in_h - kernel_h) / stride + 1; }
  std::int64_t out_w() const { return (in_w - kernel_w) / stride + 1; }
};

// [images, pixels, channels] to [images, channels, pixels], the order of PyTorch's Flatten, or back
// with `backward` (then optionally to += instead of to =).
struct GpuFlatten {
  std::int64_t images = 0, pixels = 0, channels = 0;
  const float* from = nullptr;
  float* to = nullptr;
  bool backward = false;
  bool accumulate = false;
};

// ---- Loss and update

// Sums over the images of a batch.
struct GpuLossSum {
  double loss = 0;
  std::int64_t correct = 0;
};

// Softmax cross-entropy.
//   logits, dlogits [images, classes]   labels, losses, predicted, confidence [images]
struct GpuLoss {
  std::int64_t images = 0, classes = 0;
  const float* logits = nullptr;
  const std::uint8_t* labels = nullptr;
  // The target of class c is (1 - smoothing) * onehot[c] + smoothing / classes.
  double smoothing = 0;
  double divisor = 1;        // dlogits is the gradient of sum(losses) / divisor
  float* dlogits = nullptr;  // null: not computed; may not alias logits
  float* losses = nullptr;
  std::uint8_t* predicted = nullptr;  // the first class with the largest logit
  float* confidence = nullptr;        // its probability
  GpuLossSum* sum = nullptr;
  float* fault = nullptr;  // receives 0, or NaN if the sum is not finite; null: not written
};

// Stochastic gradient descent in PyTorch's order of operations, over `count` values.
//   g = gradient + weight_decay * weight;  velocity = momentum * velocity + g;
//   weight -= lr * (velocity with momentum, otherwise g)
struct GpuSgd {
  std::int64_t count = 0;
  float* weights = nullptr;
  const float* gradients = nullptr;
  float* velocity = nullptr;              // null without momentum; zero before the first step
  std::uint16_t* bf16_weights = nullptr;  // receives the new weights, rounded; null: not kept
  float momentum = 0, weight_decay = 0;
  const float* lr = nullptr;     // in GPU memory, so that a recorded update can have another rate
  const float* fault = nullptr;  // of GpuLoss, or a sum of such: nothing changes if it is NaN
};

// to [count] = from [count], rounded to bf16; both begin at multiples of 16 bytes, and a number
// that is not a multiple of kBf16Width is refused.
struct GpuRounding {
  std::int64_t count = 0;
  const float* from = nullptr;
  std::uint16_t* to = nullptr;
};

class GpuLayers {
 public:
  GpuLayers() = default;
  virtual ~GpuLayers() = default;
  GpuLayers(const GpuLayers&) = delete;
  GpuLayers& operator=(const GpuLayers&) = delete;

  // The libraries that compute, with their versions; empty for the lab's kernels.
  virtual std::string libraries() const { return {}; }
  // Why convolutions cannot be computed in this precision, and what to use instead.
  virtual std::optional<std::string> unsupported(Precision precision) const {
    static_cast<void>(precision);
    return {};
  }

  // Whether x, y and their gradients may be bf16 in a convolution of these sizes and this
  // precision. All other operations take bf16 where their arrays have a type, or none do.
  virtual bool takes_bf16(const GpuConvolution& convolution) const {
    static_cast<void>(convolution);
    return false;
  }

  // Scratch memory for the operation and up to its number of images or rows; possibly 0. Of arrays,
  // only the types are read, and whether bf16_weight is null.
  virtual std::int64_t workspace_bytes(const GpuConvolution& convolution) const = 0;
  virtual std::int64_t workspace_bytes(const GpuBatchNorm& norm) const = 0;
  virtual std::int64_t workspace_bytes(const GpuImageOrder& order) const = 0;
  // Memory that a convolution keeps from the forward pass until its gradients are computed, for its
  // number of images or fewer; possibly 0. Of arrays is read what workspace_bytes() reads.
  virtual std::int64_t kept_bytes(const GpuConvolution& convolution) const {
    static_cast<void>(convolution);
    return 0;
  }
  // Likewise of a batch norm with relu and a residual, for its number of rows or fewer.
  virtual std::int64_t kept_bytes(const GpuBatchNorm& norm) const {
    static_cast<void>(norm);
    return 0;
  }

  virtual void draw_order(const GpuImageOrder& order, GpuStream& stream) = 0;
  virtual void gather(const GpuGather& gather, GpuStream& stream) = 0;

  // y = x * weight + bias
  virtual void convolution_forward(const GpuConvolution& convolution, GpuStream& stream) = 0;
  // dx from dy and weight
  virtual void convolution_input_gradient(const GpuConvolution& convolution, GpuStream& stream) = 0;
  // dweight from x and dy
  virtual void convolution_weight_gradient(const GpuConvolution& convolution,
                                           GpuStream& stream) = 0;
  // dbias from dy
  virtual void convolution_bias_gradient(const GpuConvolution& convolution, GpuStream& stream) = 0;
  // Whether the weight gradient writes no memory that the two others use, nor they any of its, so
  // that it can run concurrently with them. Only the types of arrays are read.
  virtual bool gradients_are_independent(const GpuConvolution& convolution) const {
    static_cast<void>(convolution);
    return false;
  }

  virtual void batch_norm_forward(const GpuBatchNorm& norm, GpuStream& stream) = 0;
  // Reads x, dy, weight, bias, mean, inverse_deviation, and where `relu`, y or what is kept.
  virtual void batch_norm_backward(const GpuBatchNorm& norm, GpuStream& stream) = 0;

  virtual void activation_forward(const GpuActivate& activation, GpuStream& stream) = 0;
  virtual void activation_backward(const GpuActivate& activation, GpuStream& stream) = 0;
  virtual void average_pool_forward(const GpuAveragePool& pool, GpuStream& stream) = 0;
  virtual void average_pool_backward(const GpuAveragePool& pool, GpuStream& stream) = 0;
  virtual void flatten(const GpuFlatten& flatten, GpuStream& stream) = 0;

  virtual void loss(const GpuLoss& loss, GpuStream& stream) = 0;
  virtual void sgd(const GpuSgd& sgd, GpuStream& stream) = 0;
  virtual void round_to_bf16(const GpuRounding& rounding, GpuStream& stream) = 0;
};

}  // namespace lab
