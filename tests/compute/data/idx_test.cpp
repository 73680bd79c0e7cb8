#include "compute/data/idx.h"

#include <gtest/gtest.h>

#include <functional>

#include "compute/core/error.h"
#include "compute/data/gzip.h"
#include "tests/compute/data/idx_bytes.h"

namespace lab {
namespace {

using test::Bytes;

// The message of Error(Errc::Corrupt), or "" if nothing was thrown.
std::string problem(const std::function<void()>& decode) {
  try {
    decode();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::Corrupt) << error.what();
    return error.what();
  }
  return "";
}
std::string images_problem(const Bytes& file) {
  return problem([&] { decode_idx_images(file, "f"); });
}
std::string labels_problem(const Bytes& file) {
  return problem([&] { decode_idx_labels(file, "f"); });
}

TEST(Idx, ReadsPlainAndPackedImagesAlike) {
  const Bytes plain = test::idx_images(3);
  for (const Bytes& file : {plain, test::gzip(plain)}) {
    const IdxImages images = decode_idx_images(file, "f");
    EXPECT_EQ(images.count, 3);
    EXPECT_EQ(images.height, 28);
    EXPECT_EQ(images.width, 28);
    EXPECT_EQ(images.pixels, Bytes(plain.begin() + 16, plain.end()));
  }
}

TEST(Idx, ReadsPlainAndPackedLabelsAlike) {
  const Bytes plain = test::idx_labels(25);
  EXPECT_EQ(decode_idx_labels(plain, "f"), Bytes(plain.begin() + 8, plain.end()));
  EXPECT_EQ(decode_idx_labels(test::gzip(plain), "f"), Bytes(plain.begin() + 8, plain.end()));
}

TEST(Idx, ReadsConcatenatedGzipMembers) {
  const Bytes plain = test::idx_labels(30);
  Bytes file = test::gzip(std::span(plain).first(20));
  const Bytes rest = test::gzip(std::span(plain).subspan(20));
  file.insert(file.end(), rest.begin(), rest.end());
  EXPECT_EQ(decode_idx_labels(file, "f").size(), 30U);
}

TEST(Idx, RejectsWrongMagic) {
  EXPECT_EQ(images_problem({}), "f is not an IDX file: it ends after 0 bytes");
  EXPECT_EQ(images_problem({0x89, 'P', 'N', 'G', 0}),
            "f is not an IDX file: it starts with 89 50 4e 47, not 00 00");
  EXPECT_EQ(images_problem({0, 0, 0x0d, 3}),
            "f holds values of IDX type 0x0d; only unsigned bytes (0x08) are read");
}

TEST(Idx, RejectsSwappedImagesAndLabels) {
  EXPECT_EQ(images_problem(test::idx_labels(4)),
            "f is mislabelled: images have 3 dimensions, but it has 1 (labels)");
  EXPECT_EQ(labels_problem(test::gzip(test::idx_images(2))),
            "f is mislabelled: labels have 1 dimension, but it has 3 (images)");
  Bytes labels = test::idx_labels(12);
  labels[8 + 7] = 10;
  EXPECT_EQ(labels_problem(labels),
            "f is mislabelled: label 10 of image 7 is past the last class 9");
}

TEST(Idx, RejectsTruncatedFiles) {
  Bytes file = test::idx_images(2);
  EXPECT_EQ(images_problem(Bytes(file.begin(), file.begin() + 9)),
            "f is truncated: its header needs 16 bytes, there are 9");
  file.pop_back();
  EXPECT_EQ(images_problem(file), "f is truncated: 2x28x28 images need 1584 bytes, there are 1583");
  EXPECT_EQ(images_problem(test::gzip(file)),
            "f is truncated: 2x28x28 images need 1584 bytes, there are 1583");
  Bytes packed = test::gzip(test::idx_images(2));
  packed.resize(packed.size() / 2);
  EXPECT_EQ(images_problem(packed), "f ends in the middle of its gzip data; fetch it again");
}

TEST(Idx, RejectsDamagedGzipData) {
  Bytes packed = test::gzip(test::idx_images(2));
  packed[packed.size() - 6] ^= 0x40;  // in the checksum
  EXPECT_EQ(images_problem(packed),
            "f holds damaged gzip data (incorrect data check); fetch it again");
  packed = test::gzip(test::idx_images(2));
  packed.push_back('x');
  EXPECT_EQ(images_problem(packed), "f has data after the end of its gzip stream; fetch it again");
}

TEST(Idx, RejectsTrailingBytes) {
  Bytes file = test::idx_labels(5);
  file.insert(file.end(), {1, 2});
  EXPECT_EQ(labels_problem(file), "f has 2 bytes after its 5 labels");
  EXPECT_EQ(labels_problem(test::gzip(file)), "f has at least 1 byte after its 5 labels");
}

TEST(Idx, RejectsOversizedHeadersWithoutAllocating) {
  const char* over =
      "f is oversized: its header claims 4294967295x4294967295x4294967295 values, "
      "more than 1.00 GiB";
  const Bytes huge = test::idx_header({0xffffffff, 0xffffffff, 0xffffffff});
  EXPECT_EQ(images_problem(huge), over);
  EXPECT_EQ(images_problem(test::gzip(huge)), over);
  // 2^31 * 2^31 * 4 would wrap to 0 in 64 bits.
  EXPECT_NE(images_problem(test::idx_header({0x80000000, 0x80000000, 4})), "");
  const Bytes claims = test::idx_header({1000000, 28, 28});
  EXPECT_EQ(images_problem(claims),
            "f is truncated: 1000000x28x28 images need 784000016 bytes, there are 16");
  EXPECT_NE(images_problem(test::gzip(claims)).find("cannot be packed into its"),
            std::string::npos);
  EXPECT_EQ(images_problem(test::idx_header({3, 0, 28})), "f is empty: dimension 2 is 0");
}

TEST(Idx, LimitsDecompressionToTheHeaderSize) {
  Bytes content = test::idx_labels(10);
  content.resize(64 << 20);
  const Bytes bomb = test::gzip(content);
  ASSERT_LT(bomb.size(), 200U << 10);
  EXPECT_EQ(labels_problem(bomb), "f has at least 1 byte after its 10 labels");
}

TEST(Gunzip, StopsAtTheLimit) {
  const Bytes content = test::idx_images(200);
  const Bytes packed = test::gzip(content);
  for (const std::int64_t limit : {0, 1, 16, 65536, 65537, 131072, 156816, 156817}) {
    const Bytes got = gunzip(packed, limit, "f");
    const std::size_t want = std::min<std::size_t>(content.size(), static_cast<std::size_t>(limit));
    ASSERT_EQ(got.size(), want) << limit;
    EXPECT_TRUE(std::equal(got.begin(), got.end(), content.begin()));
  }
}

}  // namespace
}  // namespace lab
