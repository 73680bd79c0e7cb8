#include <algorithm>
#include <cstring>

#include "compute/gpu/emulator/block.h"
#include "compute/gpu/emulator/vocabulary.h"

namespace lab::simt {
namespace {

constexpr int kRows = 8;  // rows and columns of an 8x8 matrix
constexpr std::size_t kRowBytes = 16;

using Matrix8 = std::array<std::array<std::uint16_t, kRows>, kRows>;

// Reads the 8x8 matrix whose row addresses are given by the lanes from `first_lane` on.
Matrix8 read_matrix(WarpGroup& group, int first_lane) {
  Matrix8 matrix{};
  for (int row = 0; row < kRows; ++row) {
    const int lane = first_lane + row;
    const WarpRequest& request = group.request(lane);
    try {
      request.array->read({request.offset, kRowBytes, kRowBytes, sizeof(std::uint16_t)},
                          matrix[static_cast<std::size_t>(row)].data(), group.thread(lane).time);
    } catch (const Fault& fault) {
      throw Fault(fault.kind(), std::string(request.name) + ": " + fault.what() +
                                    ", the row address of lane " + std::to_string(lane));
    }
  }
  return matrix;
}

template <int kMatrices, bool kTransposed>
void load_for_all(WarpGroup& group) {
  group.require_all("ldmatrix");
  for (int m = 0; m < kMatrices; ++m) {
    const Matrix8 matrix = read_matrix(group, m * kRows);
    group.each([&](int lane) {
      const auto i = static_cast<std::size_t>(lane / 4);
      const auto j = static_cast<std::size_t>(lane % 4) * 2;
      const std::uint32_t low = kTransposed ? matrix[j][i] : matrix[i][j];
      const std::uint32_t high = kTransposed ? matrix[j + 1][i] : matrix[i][j + 1];
      group.request(lane).out[static_cast<std::size_t>(m)] = high << 16 | low;
    });
  }
}

using Operation = void (*)(WarpGroup&);

Operation load_operation(int count, bool transposed) {
  if (count == 1) return transposed ? load_for_all<1, true> : load_for_all<1, false>;
  if (count == 2) return transposed ? load_for_all<2, true> : load_for_all<2, false>;
  return transposed ? load_for_all<4, true> : load_for_all<4, false>;
}

// Layout of an mma's `in`: four registers of A, two of B, four of C.
constexpr std::size_t kB = 4;
constexpr std::size_t kC = 6;

float bf16_element(const WarpRequest& request, std::size_t first, int i) {
  const std::uint32_t word = request.in[first + static_cast<std::size_t>(i / 2)];
  return from_bf16(static_cast<std::uint16_t>(i % 2 == 0 ? word : word >> 16));
}

float tf32_element(const WarpRequest& request, std::size_t first, int i) {
  return std::bit_cast<float>(request.in[first + static_cast<std::size_t>(i)] & kTf32Bits);
}

template <std::size_t kDepth>
struct Operands {
  std::array<std::array<double, kDepth>, 16> a{};
  std::array<std::array<double, 8>, kDepth> b{};
};

template <std::size_t kDepth>
void multiply(WarpGroup& group, const Operands<kDepth>& operands) {
  group.each([&](int lane) {
    WarpRequest& request = group.request(lane);
    for (int i = 0; i < 4; ++i) {
      const auto [row, col] = fragment_c(lane, i);
      double sum = std::bit_cast<float>(request.in[kC + static_cast<std::size_t>(i)]);
      for (std::size_t k = 0; k < kDepth; ++k) {
        sum += operands.a[static_cast<std::size_t>(row)][k] *
               operands.b[k][static_cast<std::size_t>(col)];
      }
      request.out[static_cast<std::size_t>(i)] =
          std::bit_cast<std::uint32_t>(static_cast<float>(sum));
    }
  });
}

template <std::size_t kDepth>
void set(Operands<kDepth>& operands, FragmentIndex at, bool of_a, float value) {
  const auto row = static_cast<std::size_t>(at.row);
  const auto col = static_cast<std::size_t>(at.col);
  (of_a ? operands.a[row][col] : operands.b[row][col]) = value;
}

void bf16_for_all(WarpGroup& group) {
  group.require_all("mma_m16n8k16_bf16");
  Operands<16> operands;
  group.each([&](int lane) {
    const WarpRequest& r = group.request(lane);
    for (int i = 0; i < 8; ++i)
      set(operands, bf16_fragment_a(lane, i), true, bf16_element(r, 0, i));
    for (int i = 0; i < 4; ++i)
      set(operands, bf16_fragment_b(lane, i), false, bf16_element(r, kB, i));
  });
  multiply(group, operands);
}

void tf32_for_all(WarpGroup& group) {
  group.require_all("mma_m16n8k8_tf32");
  Operands<8> operands;
  group.each([&](int lane) {
    const WarpRequest& r = group.request(lane);
    for (int i = 0; i < 4; ++i)
      set(operands, tf32_fragment_a(lane, i), true, tf32_element(r, 0, i));
    for (int i = 0; i < 2; ++i)
      set(operands, tf32_fragment_b(lane, i), false, tf32_element(r, kB, i));
  });
  multiply(group, operands);
}

void mma(Operation operation, const char* name, float (&d)[4], const std::uint32_t (&a)[4],
         const std::uint32_t (&b)[2], const Where& where) {
  WarpRequest request{.operation = operation, .name = name, .mask = kFullWarp, .where = where};
  std::copy(std::begin(a), std::end(a), request.in.begin());
  std::copy(std::begin(b), std::end(b), request.in.begin() + kB);
  for (std::size_t i = 0; i < 4; ++i) request.in[kC + i] = std::bit_cast<std::uint32_t>(d[i]);
  const WarpRequest& answer = current_block().meet(request);
  for (std::size_t i = 0; i < 4; ++i) d[i] = std::bit_cast<float>(answer.out[i]);
}

}  // namespace

void load_matrices(std::uint32_t* r, int count, bool transposed, SharedArray& array,
                   std::ptrdiff_t row_offset, const Where& where) {
  WarpRequest request{.operation = load_operation(count, transposed),
                      .name = transposed ? "ldmatrix_transposed" : "ldmatrix",
                      .mask = kFullWarp,
                      .where = where};
  request.array = &array;
  request.offset = row_offset;
  const WarpRequest& answer = current_block().meet(request);
  std::copy_n(answer.out.begin(), count, r);
}

void mma_m16n8k16_bf16(float (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2],
                       const Where& where) {
  mma(bf16_for_all, "mma_m16n8k16_bf16", d, a, b, where);
}

void mma_m16n8k8_tf32(float (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2],
                      const Where& where) {
  mma(tf32_for_all, "mma_m16n8k8_tf32", d, a, b, where);
}

}  // namespace lab::simt
