#include "compute/core/printable.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace lab {
namespace {

TEST(Printable, KeepsOrdinaryText) {
  EXPECT_EQ(printable(""), "");
  EXPECT_EQ(printable("layer.0 'weight'"), "layer.0 'weight'");
  EXPECT_EQ(printable("Größe 12 µs \xF0\x9F\x98\x80"), "Größe 12 µs \xF0\x9F\x98\x80");
}

TEST(Printable, ReplacesControlCharacters) {
  EXPECT_EQ(printable("\x1b[2J\x1b]0;x\x07"), "?[2J?]0;x?");
  EXPECT_EQ(printable(std::string("a\0b\nc\td\x7f", 8)), "a?b?c?d?");
  EXPECT_EQ(printable("\xC2\x9B[2J"), "?[2J") << "the control sequence introducer in one byte";
  EXPECT_EQ(printable("a\xE2\x80\xA8"
                      "b\xE2\x80\xAE"
                      "c\xE2\x81\xA6"
                      "d"),
            "a?b?c?d");
}

TEST(Printable, ReplacesInvalidUtf8) {
  EXPECT_EQ(printable("a\xff\xfe"), "a??");
  EXPECT_EQ(printable("\xC3"), "?") << "cut off";
  EXPECT_EQ(printable("\xE2\x82z"), "??z") << "cut off in the middle";
  EXPECT_EQ(printable("\xC0\x80"), "??") << "an overlong NUL";
  EXPECT_EQ(printable("\xED\xA0\x80"), "???") << "a surrogate";
  EXPECT_EQ(printable("\xF4\x90\x80\x80"), "????") << "beyond Unicode";
}

TEST(Printable, TruncatesBetweenCharacters) {
  EXPECT_EQ(printable("abc", 3), "abc");
  EXPECT_EQ(printable("abcd", 3), "abc...");
  EXPECT_EQ(printable("ab\xC3\xA4", 3), "ab...");
  EXPECT_EQ(printable("ab\xC3\xA4", 4), "ab\xC3\xA4");
  EXPECT_EQ(printable(std::string(1000, 'x')), std::string(60, 'x') + "...");
}

TEST(Printable, FormatsNonFiniteNumbers) {
  EXPECT_EQ(printable(std::copysign(std::nan(""), -1.0)), "NaN");
  EXPECT_EQ(printable(std::copysign(std::nanf(""), -1.0F)), "NaN");
  EXPECT_EQ(printable(-HUGE_VAL), "-inf");
  EXPECT_EQ(printable(0.1F), "0.1");
  EXPECT_EQ(printable(1e300), "1e+300");
}

}  // namespace
}  // namespace lab
