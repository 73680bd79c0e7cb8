#pragma once
// Softmax cross-entropy: one warp per image, then the sums over the batch by one block.
//   logits, dlogits [images, classes]   labels, losses, predicted, confidence [images]
//
// Work     images * classes exponentials in FP64, a negligible share of a step
// Limits   1 <= classes <= 256
// Numerics the row's maximum is subtracted first; exponentials and sums in FP64, in a fixed order
#include <cmath>
#include <cstdint>

#include "compute/gpu/cuda/kernel/simt.h"
#include "compute/gpu/cuda/layers/launch_grid.h"
#include "compute/gpu/gpu_layers.h"

namespace lab::cuda {

// The sum over the lanes of a warp; every lane receives it.
LAB_DEVICE double warp_sum_f64(double value) {
  struct Words {
    std::uint32_t low, high;
  };
  LAB_UNROLL
  for (int bits = 16; bits > 0; bits /= 2) {
    const auto mine = __builtin_bit_cast(Words, value);
    const Words other{simt::shuffle_xor(mine.low, bits), simt::shuffle_xor(mine.high, bits)};
    value += __builtin_bit_cast(double, other);
  }
  return value;
}

struct LossKernel {
  struct Args {
    const float* logits;
    const std::uint8_t* labels;
    float* dlogits;
    float* losses;
    std::uint8_t* predicted;
    float* confidence;
    int images, classes;
    double smoothing, divisor;
  };
  static constexpr const char* kName = "loss";
  static constexpr int kThreads = 128;
  static constexpr int kImages = kThreads / 32;  // per block

  static LAB_DEVICE void run(const Args& args) {
    const int image = simt::block_idx().x * kImages + simt::warp();
    if (image >= args.images) return;
    const auto logits = simt::global(args.logits) + std::int64_t{image} * args.classes;
    const Best best = best_of(logits, args.classes);
    const double spread = args.smoothing / args.classes;  // target of other classes
    const double hit = 1 - args.smoothing + spread;       // target of the label's class
    double part = 0, distance = 0;
    for (int c = simt::lane(); c < args.classes; c += 32) {
      const float logit = logits[c];
      const double below = static_cast<double>(logit) - static_cast<double>(best.logit);
      part += std::exp(below);
      distance += below;
    }
    const double sum = warp_sum_f64(part);
    const double smoothed = spread > 0 ? spread * warp_sum_f64(distance) : 0;
    const std::uint8_t label = simt::global(args.labels)[image];
    if (simt::lane() == 0) {
      const float logit = logits[label];
      const double margin =
          (1 - args.smoothing) * (static_cast<double>(logit) - static_cast<double>(best.logit)) +
          smoothed;
      simt::global(args.losses)[image] = static_cast<float>(std::log(sum) - margin);
      simt::global(args.predicted)[image] = static_cast<std::uint8_t>(best.index);
      simt::global(args.confidence)[image] = static_cast<float>(1.0 / sum);
    }
    if (args.dlogits == nullptr) return;
    const auto dlogits = simt::global(args.dlogits) + std::int64_t{image} * args.classes;
    for (int c = simt::lane(); c < args.classes; c += 32) {
      const float logit = logits[c];
      const double e = std::exp(static_cast<double>(logit) - static_cast<double>(best.logit));
      dlogits[c] = static_cast<float>((e / sum - (c == label ? hit : spread)) / args.divisor);
    }
  }

 private:
  // The first of the largest logits. NaN is never larger; the loss is NaN then.
  struct Best {
    float logit;
    int index;
  };
  static LAB_DEVICE bool precedes(const Best& a, const Best& b) {
    return a.logit > b.logit || (a.logit == b.logit && a.index < b.index);
  }
  static LAB_DEVICE Best best_of(simt::GlobalPtr<const float> logits, int classes) {
    const float first = logits[0];
    Best best{first, 0};
    for (int c = simt::lane(); c < classes; c += 32) {
      const float logit = logits[c];
      const Best next{logit, c};
      if (precedes(next, best)) best = next;
    }
    LAB_UNROLL
    for (int bits = 16; bits > 0; bits /= 2) {
      const Best other{simt::shuffle_xor(best.logit, bits), simt::shuffle_xor(best.index, bits)};
      if (precedes(other, best)) best = other;
    }
    return best;
  }
};

// Adds the losses and counts the correct predictions of a batch, in one block.
struct LossSumKernel {
  struct Args {
    const float* losses;
    const std::uint8_t* predicted;
    const std::uint8_t* labels;
    GpuLossSum* sum;
    float* fault;
    int images;
  };
  static constexpr const char* kName = "sum of losses";
  static constexpr int kThreads = 256;

  static LAB_DEVICE void run(const Args& args) {
    LAB_SHARED(double, losses, kThreads);
    LAB_SHARED(int, correct, kThreads);
    const int t = simt::thread_idx().x;
    double loss = 0;
    int right = 0;
    for (int i = t; i < args.images; i += kThreads) {
      const float one = simt::global(args.losses)[i];
      const std::uint8_t predicted = simt::global(args.predicted)[i];
      const std::uint8_t label = simt::global(args.labels)[i];
      loss += static_cast<double>(one);
      right += predicted == label ? 1 : 0;
    }
    losses[t] = loss;
    correct[t] = right;
    for (int half = kThreads / 2; half > 0; half /= 2) {
      simt::sync_threads();
      if (t >= half) continue;
      losses[t] = losses[t] + losses[t + half];
      correct[t] = correct[t] + correct[t + half];
    }
    if (t != 0) return;
    const double total = losses[0];
    const int total_right = correct[0];
    simt::global(&args.sum->loss)[0] = total;
    simt::global(&args.sum->correct)[0] = total_right;
    // 0, or NaN: the difference of infinities.
    if (args.fault != nullptr) simt::global(args.fault)[0] = static_cast<float>(total - total);
  }
};

}  // namespace lab::cuda
