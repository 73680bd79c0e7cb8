// wgmma, one warp at a time: each warp multiplies its 16 rows. Products are exact and summed in
// double, then rounded to float once.
#include "compute/gpu/cuda/kernel/wgmma.h"

#include <array>
#include <string>
#include <vector>

#include "compute/gpu/emulator/block.h"

namespace lab::simt {
namespace {

constexpr int kPieceBytes = 16;
constexpr int kPieceElements = 8;
constexpr int kWarpRows = 16;

struct Arguments {
  Element16 element;
  float (*sums)[4];
  int columns;
  BoxOperand a, b;
  int step;
};

const Arguments& arguments_of(WarpGroup& group, int lane) {
  return *static_cast<const Arguments*>(group.request(lane).arguments);
}

// Reads one piece of a row of 128 bytes, which may be below the box's last row: boxes follow each
// other.
std::array<std::uint16_t, kPieceElements> read_piece(WarpGroup& group, const Box& box, int row,
                                                     int piece) {
  if (box.byte_offset % kBoxRowBytes != 0) {
    throw Fault(FaultKind::Misaligned, "wgmma: a box at byte " + std::to_string(box.byte_offset) +
                                           " of shared memory; needs a multiple of " +
                                           std::to_string(kBoxRowBytes));
  }
  std::array<std::uint16_t, kPieceElements> values;
  const std::ptrdiff_t row_offset = box.byte_offset + row * kBoxRowBytes;
  const auto place = static_cast<int>(piece ^ row_offset / kBoxRowBytes % 8);
  const std::ptrdiff_t offset = row_offset + place * kPieceBytes;
  box.array->read({offset, kPieceBytes, kPieceBytes, sizeof(std::uint32_t)}, values.data(),
                  group.thread(0).time);
  return values;
}

// to[slot][i] for `count` rows of A, or columns of B, from `first` on, a multiple of 8.
void read_operand(WarpGroup& group, const BoxOperand& operand, int first, int count,
                  std::vector<std::array<double, kWgmmaSlots>>& to) {
  const Arguments& arguments = arguments_of(group, 0);
  to.assign(static_cast<std::size_t>(count), {});
  const int slot = arguments.step * kWgmmaSlots;
  const auto put = [&](int i, int k, std::uint16_t bits) {
    to[static_cast<std::size_t>(i)][static_cast<std::size_t>(k)] =
        arguments.element == Element16::Bf16 ? from_bf16(bits) : from_fp16(bits);
  };
  if (operand.slots) {
    for (int i = 0; i < count; ++i) {
      for (int k = 0; k < kWgmmaSlots; k += kPieceElements) {
        const auto values = read_piece(group, operand.box, first + i, (slot + k) / kPieceElements);
        for (int e = 0; e < kPieceElements; ++e) put(i, k + e, values[static_cast<std::size_t>(e)]);
      }
    }
    return;
  }
  for (int k = 0; k < kWgmmaSlots; ++k) {
    for (int i = 0; i < count; i += kPieceElements) {
      const int at = first + i;
      const Box box = operand.box + at / kBoxRows * kBoxBytes;
      const auto values = read_piece(group, box, slot + k, at % kBoxRows / kPieceElements);
      for (int e = 0; e < kPieceElements; ++e) put(i + e, k, values[static_cast<std::size_t>(e)]);
    }
  }
}

void multiply_for_all(WarpGroup& group) {
  group.require_all("wgmma");
  const Arguments& first = arguments_of(group, 0);
  const int row = group.thread(0).time.warp() % (kWgmmaRows / kWarpRows) * kWarpRows;
  std::vector<std::array<double, kWgmmaSlots>> a, b;
  read_operand(group, first.a, row, kWarpRows, a);
  read_operand(group, first.b, 0, first.columns, b);
  group.each([&](int lane) {
    float(*const sums)[4] = arguments_of(group, lane).sums;
    for (int j = 0; j < first.columns / 8; ++j) {
      for (int i = 0; i < 4; ++i) {
        const FragmentIndex at = fragment_c(lane, i);
        const auto& of_row = a[static_cast<std::size_t>(at.row)];
        const int column = 8 * j + at.col;
        const auto& of_column = b[static_cast<std::size_t>(column)];
        double sum = sums[j][i];
        for (std::size_t k = 0; k < of_row.size(); ++k) sum += of_row[k] * of_column[k];
        sums[j][i] = static_cast<float>(sum);
      }
    }
  });
}

}  // namespace

void multiply_boxes(Element16 element, float (*sums)[4], int columns, const BoxOperand& a,
                    const BoxOperand& b, int step, const Where& where) {
  const Arguments arguments{element, sums, columns, a, b, step};
  WarpRequest request{
      .operation = multiply_for_all, .name = "wgmma", .mask = kFullWarp, .where = where};
  request.arguments = &arguments;
  current_block().meet(request);
}

}  // namespace lab::simt
