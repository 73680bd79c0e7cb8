#pragma once
// The order of an epoch's images: a Fisher-Yates shuffle, whose swaps follow one another, computed
// by all threads at once.
//
// Swap i, from the number of images down to 2, exchanges places i - 1 and p(i), a random number
// below i. Later swaps leave place i - 1 alone, so what it ends with is what place p(i) held then.
// A place c holds its first value c until a swap k puts there what place k - 1 held; of several
// swaps with p(k) = c, that is the last one before i, the smallest k > i. So each thread follows
// one value back: place p(i) before swap i, place k - 1 before swap k, and so on. Swaps with the
// same p(k) form a linked list, in any order.
//
// Work     12 bytes per image written, 30 or so read at random places; lists have log(images / c)
//          entries, chains a few
// Limits   fewer than 2^31 images
// Numerics the bits of BatchLoader
// Source   the lists take the place of the rounds of Shun et al., "Sequential Random Permutation,
//          List Contraction and Tree Contraction are Highly Parallel", SODA 2015
#include <array>
#include <cstdint>

#include "compute/core/random_bits.h"
#include "compute/gpu/cuda/kernel/simt.h"
#include "compute/gpu/cuda/layers/elementwise.cuh"
#include "compute/gpu/cuda/layers/launch_grid.h"
#include "compute/gpu/gpu_layers.h"

namespace lab::cuda {

// Numbers per Philox block: a thread draws all of them.
inline constexpr int kNumbersPerDraw = 4;

// A stream of random numbers.
struct PhiloxStream {
  std::uint64_t seed, stream;

  // Numbers 4 * index to 4 * index + 3.
  LAB_DEVICE std::array<std::uint32_t, kNumbersPerDraw> four(std::uint64_t index) const {
    return random::stream_block(seed, stream, index);
  }
};

// Swaps count from 2; 0 ends a list.
struct SwapLists {
  std::uint32_t* partner;  // [images + 1] p(i) of swap i
  std::uint32_t* next;     // [images + 1] another swap with the same p
  std::uint32_t* first;    // [images] a swap with p = c
};

struct ClearListsKernel {
  struct Args {
    SwapLists lists;
    std::int64_t images;
  };
  static constexpr const char* kName = "order of images";
  static constexpr int kThreads = kElementThreads;

  static LAB_DEVICE void run(const Args& args) {
    const std::int64_t c = element_index();
    if (c < args.images) simt::global(args.lists.first)[c] = 0;
  }
};

// One thread per four swaps.
struct DrawSwapsKernel {
  struct Args {
    SwapLists lists;
    PhiloxStream random;
    std::int64_t images;
  };
  static constexpr const char* kName = "order of images";
  static constexpr int kThreads = kElementThreads;

  static LAB_DEVICE void run(const Args& args) {
    const std::int64_t begin = element_index() * kNumbersPerDraw;
    if (begin > args.images) return;
    const auto numbers = args.random.four(static_cast<std::uint64_t>(begin / kNumbersPerDraw));
    LAB_UNROLL
    for (int k = 0; k < kNumbersPerDraw; ++k) {
      const std::int64_t swap = begin + k;
      if (swap < 2 || swap > args.images) continue;
      const auto number = static_cast<std::uint32_t>(swap);
      const std::uint32_t partner = random::below(numbers[k], number);
      simt::global(args.lists.partner)[swap] = partner;
      simt::global(args.lists.next)[swap] = put_first(args.lists.first, partner, number);
    }
  }

  // Returns the swap that was the first of the list.
  static LAB_DEVICE std::uint32_t put_first(std::uint32_t* first, std::uint32_t partner,
                                            std::uint32_t swap) {
    const auto at = simt::global(first) + partner;
    std::uint32_t before = 0;
    while (true) {
      const std::uint32_t found = simt::atomic_cas(at, before, swap);
      if (found == before) return before;
      before = found;
    }
  }
};

// One thread per four places.
struct PlaceImagesKernel {
  struct Args {
    SwapLists lists;  // null: the file's order
    PhiloxStream flips;
    bool flip;
    std::int64_t images;
    std::uint32_t* to;
  };
  static constexpr const char* kName = "order of images";
  static constexpr int kThreads = kElementThreads;

  static LAB_DEVICE void run(const Args& args) {
    const std::int64_t begin = element_index() * kNumbersPerDraw;
    if (begin >= args.images) return;
    std::array<std::uint32_t, kNumbersPerDraw> numbers{};
    if (args.flip) numbers = args.flips.four(static_cast<std::uint64_t>(begin / kNumbersPerDraw));
    LAB_UNROLL
    for (int k = 0; k < kNumbersPerDraw; ++k) {
      const std::int64_t place = begin + k;
      if (place >= args.images) continue;
      std::uint32_t image = image_at(args.lists, static_cast<std::uint32_t>(place));
      if (random::below(numbers[k], 2) == 1) image |= kFlippedImage;
      simt::global(args.to)[place] = image;
    }
  }

  static LAB_DEVICE std::uint32_t image_at(const SwapLists& lists, std::uint32_t place) {
    if (lists.partner == nullptr) return place;
    const auto next = simt::global(lists.next), first = simt::global(lists.first);
    std::uint32_t swap = place + 1, at = 0;  // place 0 has no swap of its own
    if (swap > 1) at = simt::global(lists.partner)[swap];
    while (true) {
      std::uint32_t before = 0;
      for (std::uint32_t k = first[at]; k != 0; k = next[k]) {
        if (k > swap && (before == 0 || k < before)) before = k;
      }
      if (before == 0) return at;
      swap = before;
      at = before - 1;
    }
  }
};

inline std::int64_t order_workspace_bytes(const GpuImageOrder& order) {
  if (!order.shuffle_stream) return 0;
  return static_cast<std::int64_t>(sizeof(std::uint32_t)) * (3 * order.images + 2);
}

template <class Launcher>
void draw_order(Launcher& launcher, const GpuImageOrder& order, GpuStream& stream) {
  SwapLists lists{};
  if (order.shuffle_stream) {
    lists.partner = reinterpret_cast<std::uint32_t*>(order.workspace);
    lists.next = lists.partner + order.images + 1;
    lists.first = lists.next + order.images + 1;
    launcher.template launch<ClearListsKernel>(element_grid(order.images), {lists, order.images},
                                               stream);
    launcher.template launch<DrawSwapsKernel>(
        element_grid(order.images / kNumbersPerDraw + 1),
        {lists, {order.seed, *order.shuffle_stream}, order.images}, stream);
  }
  launcher.template launch<PlaceImagesKernel>(
      element_grid((order.images + kNumbersPerDraw - 1) / kNumbersPerDraw),
      {lists,
       {order.seed, order.flip_stream.value_or(0)},
       order.flip_stream.has_value(),
       order.images,
       order.to},
      stream);
}

}  // namespace lab::cuda
