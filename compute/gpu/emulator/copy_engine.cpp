// The copy engine: boxes are read when they are asked for and arrive when the phase of their
// barrier ends.
#include "compute/gpu/cuda/kernel/copy_engine.h"

#include <array>
#include <string>

#include "compute/gpu/emulator/block.h"

namespace lab::simt {
namespace {

constexpr int kBoxPieces = kBoxRowBytes / 16;
constexpr int kBoxPieceElements = 8;

PhaseBarrier& barrier_at(const BarrierPtr& at) {
  return current_block().barrier({&at.here(), at.byte_offset()});
}
PhaseBarrier& initialised(const BarrierPtr& at) {
  PhaseBarrier& barrier = barrier_at(at);
  if (barrier.arrivals == 0)
    throw Fault(FaultKind::PhaseBarrier, "an mbarrier is used before barrier_init");
  return barrier;
}
void arrive(PhaseBarrier& barrier) {
  if (barrier.missing == 0) {
    throw Fault(FaultKind::PhaseBarrier, "an mbarrier with " + std::to_string(barrier.arrivals) +
                                             " arrivals per phase gets another one");
  }
  --barrier.missing;
  current_block().end_phase(barrier);
}

// Limits of the instructions and of the driver's maps.
void require_within(const char* what, int value, int least, int most) {
  if (value >= least && value <= most) return;
  throw Fault(FaultKind::OutOfBounds, std::string(what) + " of a copy is " + std::to_string(value) +
                                          ", must be " + std::to_string(least) + " to " +
                                          std::to_string(most));
}
template <class Boxes>
void check_map(const Boxes& boxes) {
  constexpr int kMostRows = 256, kAlignment = 16;
  require_within("the number of rows", boxes.box_rows, 1, kMostRows);
  if (reinterpret_cast<std::uintptr_t>(boxes.elements) % kAlignment != 0 || boxes.channels % 8 != 0)
    throw Fault(FaultKind::Misaligned, "a copy from rows that are not a multiple of 16 bytes");
}
void check_grid(const PixelBoxes& boxes) {
  constexpr int kMostOutside = 128, kMostStep = 8;
  require_within("the step", boxes.step, 1, kMostStep);
  const int last_x = boxes.first_x + (boxes.grid_width - 1) * boxes.step - (boxes.width - 1);
  const int last_y = boxes.first_y + (boxes.grid_height - 1) * boxes.step - (boxes.height - 1);
  for (const int corner : {boxes.first_x, boxes.first_y, last_x, last_y})
    require_within("a corner", corner, -kMostOutside, kMostOutside - 1);
}

// Copies the rows of a box; find(row): the first element of its channels, or null for zeros.
template <class Find>
void copy_rows(const Box& to, int rows, int first_channel, int channels, const BarrierPtr& done,
               const Find& find) {
  if (to.byte_offset % kBoxRowBytes != 0) {
    throw Fault(FaultKind::Misaligned, "a box copied to byte " + std::to_string(to.byte_offset) +
                                           " of shared memory; needs a multiple of " +
                                           std::to_string(kBoxRowBytes));
  }
  PhaseBarrier& barrier = initialised(done);
  for (int row = 0; row < rows; ++row) {
    const std::uint16_t* const from = find(row);
    const std::ptrdiff_t row_offset = to.byte_offset + row * kBoxRowBytes;
    for (int piece = 0; piece < kBoxPieces; ++piece) {
      BoxPiece copied{.array = to.array, .offset = 0, .bytes = {}};
      const auto place = piece ^ static_cast<int>(row_offset / kBoxRowBytes % kBoxPieces);
      copied.offset = row_offset + place * 16;
      const int channel = first_channel + piece * kBoxPieceElements;
      if (from != nullptr && channel < channels) {
        const auto values = load_readonly<Uint4>(global(from) + channel);
        __builtin_memcpy(copied.bytes.data(), &values, copied.bytes.size());
      }
      barrier.pieces.push_back(copied);
    }
  }
  barrier.expected_bytes -= std::int64_t{rows} * kBoxRowBytes;
  current_block().end_phase(barrier);
}

}  // namespace

void barrier_init(const BarrierPtr& barrier, int arrivals) {
  barrier_at(barrier) = {.arrivals = arrivals, .missing = arrivals};
}

void barrier_arrive(const BarrierPtr& barrier) {
  arrive(initialised(barrier));
}

void barrier_expect(const BarrierPtr& barrier, int bytes) {
  PhaseBarrier& at = initialised(barrier);
  at.expected_bytes += bytes;
  arrive(at);
}

void wait_for_phase(const BarrierPtr& barrier, int parity, const Where& where) {
  current_block().wait_for_phase(initialised(barrier), parity, where);
}

void copy_pixels(const Box& to, const BoxMap& from, int first_channel, const PixelPlace& place,
                 int tap_x, int tap_y, const BarrierPtr& done) {
  constexpr int kMostTap = 255;
  const auto& boxes = std::get<PixelBoxes>(from.boxes);
  check_map(boxes);
  check_grid(boxes);
  require_within("a tap", tap_x, 0, kMostTap);
  require_within("a tap", tap_y, 0, kMostTap);
  const int end_x = boxes.first_x + boxes.grid_width * boxes.step;
  const int end_y = boxes.first_y + boxes.grid_height * boxes.step;
  PixelPlace at = place;
  copy_rows(to, boxes.box_rows, first_channel, boxes.channels, done, [&](int row) {
    if (row > 0 && (at.x += boxes.step) >= end_x) {
      at.x = boxes.first_x;
      if ((at.y += boxes.step) >= end_y) {
        at.y = boxes.first_y;
        ++at.image;
      }
    }
    const int x = at.x + tap_x, y = at.y + tap_y;
    const bool inside =
        x >= 0 && x < boxes.width && y >= 0 && y < boxes.height && at.image < boxes.images;
    if (!inside) return static_cast<const std::uint16_t*>(nullptr);
    const std::int64_t line = std::int64_t{at.image} * boxes.height + y;
    return boxes.elements + (line * boxes.width + x) * boxes.channels;
  });
}

void copy_weights(const Box& to, const BoxMap& from, int first_channel, int tap, int first_row,
                  const BarrierPtr& done) {
  const auto& boxes = std::get<WeightBoxes>(from.boxes);
  check_map(boxes);
  copy_rows(to, boxes.box_rows, first_channel, boxes.channels, done, [&](int row) {
    if (first_row + row >= boxes.rows || tap >= boxes.taps)
      return static_cast<const std::uint16_t*>(nullptr);
    const std::int64_t line = std::int64_t{first_row + row} * boxes.taps + tap;
    return boxes.elements + line * boxes.channels;
  });
}

}  // namespace lab::simt
