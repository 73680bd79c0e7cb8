#include "compute/tensor/random.h"

#include <algorithm>
#include <cmath>

#include "compute/core/random_bits.h"
#include "compute/tensor/random_fill.h"

namespace lab {
namespace {

using random::high_word, random::low_word;

constexpr std::uint64_t kWords = 4;  // of one Philox block

PhiloxCounter block(const RandomStream& s, std::uint64_t index) {
  return philox4x32({low_word(index), high_word(index), low_word(s.stream), high_word(s.stream)},
                    {low_word(s.seed), high_word(s.seed)});
}

// Fills out[0..] from `first` on: whole blocks by `blocks`, ragged ends by `one`.
template <typename Blocks, typename One>
void fill(std::span<float> out, std::uint64_t first, Blocks blocks, One one) {
  const auto head = std::min<std::uint64_t>(out.size(), (kWords - first % kWords) % kWords);
  for (std::uint64_t i = 0; i < head; ++i) out[i] = one(first + i);
  const std::uint64_t whole = (out.size() - head) / kWords;
  blocks(out.data() + head, (first + head) / kWords, whole);
  for (std::uint64_t i = head + whole * kWords; i < out.size(); ++i) out[i] = one(first + i);
}

}  // namespace

PhiloxCounter philox4x32(PhiloxCounter counter, PhiloxKey key) {
  return random::philox4x32(counter, key);
}

std::uint32_t RandomStream::bits(std::uint64_t index) const {
  return block(*this, index / kWords)[index % kWords];
}

float RandomStream::uniform(std::uint64_t index) const {
  return random::uniform_of(bits(index));
}

float RandomStream::normal(std::uint64_t index) const {
  const PhiloxCounter words = block(*this, index / kWords);
  const std::size_t pair = index % kWords / 2 * 2;
  const random::Turn angle = random::turn_of(words[pair + 1]);
  return std::sqrt(random::squared_radius(words[pair])) *
         (index % 2 == 0 ? angle.cosine : angle.sine);
}

std::uint32_t RandomStream::below(std::uint64_t index, std::uint32_t n) const {
  return high_word(std::uint64_t{bits(index)} * n);
}

void RandomStream::fill_uniform(std::span<float> out, std::uint64_t first) const {
  fill(
      out, first,
      [this](float* to, std::uint64_t b, std::uint64_t n) {
        random::uniform_blocks(*this, b, n, to);
      },
      [this](std::uint64_t i) { return uniform(i); });
}

void RandomStream::fill_normal(std::span<float> out, std::uint64_t first) const {
  fill(
      out, first,
      [this](float* to, std::uint64_t b, std::uint64_t n) {
        random::normal_blocks(*this, b, n, to);
      },
      [this](std::uint64_t i) { return normal(i); });
}

}  // namespace lab
