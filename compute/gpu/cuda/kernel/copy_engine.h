#pragma once
// The copy engine (TMA) in the vocabulary of simt.h, which fills boxes of wgmma.h: one thread asks
// for a box, and a barrier in shared memory reports its arrival. Elements have 16 bits; a row
// of a box has 64 channels. What lies outside an array arrives as zeros.
//
//   LAB_SHARED(simt::Barrier, name, n)   barriers. A phase of a barrier ends when its arrivals have
//                             come and all bytes that they expect; then the next phase begins
//   barrier_init(b, arrivals)            by one thread; publish_barriers() by it and sync_threads()
//                             follow
//   barrier_arrive(b)
//   barrier_expect(b, bytes)             arrives, and expects bytes
//   barrier_wait<what>(b, parity)        waits for the end of the phase of this parity: 0 for the
//                             first one, 1 for the second, then alternating. 1 returns at once
//                             during the first. On the device, a wait of about 10 s ends the
//                             context with a note that names the WaitFor `what`
//   BoxMap                    where the copy engine finds an array and how it cuts boxes from it;
//                             made by the launcher (launch_grid.h) from one of the structs below,
//                             passed in the kernel's arguments
//   copy_pixels(to, map, first_channel, place, tap_x, tap_y, b)
//                             of PixelBoxes: to the Box `to`, channels of the pixels of the grid
//                             from `place` on, each moved by the tap
//   copy_weights(to, map, first_channel, tap, first_row, b)
//                             of WeightBoxes
//
// In the emulator, boxes arrive when their phase ends; it detects neither boxes that are
// overwritten before a wgmma has read them nor a missing publish_barriers().
//
// Source  PTX ISA, "mbarrier", "cp.async.bulk.tensor", "Im2col mode"
#include <cstdint>

#include "compute/gpu/cuda/kernel/wgmma.h"
#include "compute/gpu/cuda/matmul/stalled_wait.h"

namespace lab::simt {

using cuda_matmul::WaitFor;

// Pixels of images, in boxes of box_rows pixels that follow each other in a grid: from the pixel
// (first_y, first_x) of each image on, every step-th one in both directions. The grid begins and
// ends at most 128 pixels outside the image; taps are 0 to 255.
struct PixelBoxes {
  const std::uint16_t* elements = nullptr;  // [images, height, width, channels], 16-byte aligned
  int images = 0, height = 0, width = 0;
  int channels = 0;  // a multiple of 8
  int first_y = 0, first_x = 0;
  int grid_height = 0, grid_width = 0;
  int step = 1;      // at most 8
  int box_rows = 0;  // at most 256
};
struct PixelPlace {
  int x, y, image;  // of the image; y and x may lie outside
};

// Weights in boxes of box_rows rows of one tap.
struct WeightBoxes {
  const std::uint16_t* elements = nullptr;  // [rows, taps, channels], 16-byte aligned
  int rows = 0, taps = 0;
  int channels = 0;  // a multiple of 8
  int box_rows = 0;  // at most 256
};

using Barrier = std::uint64_t;

}  // namespace lab::simt

#if defined(__CUDACC__)
#include "compute/gpu/cuda/kernel/copy_engine_device.cuh"
#elif defined(LAB_SIMT_EMULATOR)
#include "compute/gpu/emulator/copy_engine.h"
#endif
