#include "compute/gpu/dynamic_library.h"

#include <gtest/gtest.h>

namespace lab {
namespace {

TEST(DynamicLibrary, FindsFunctions) {
  const auto math = DynamicLibrary::open({"libm.so.6"});
  ASSERT_TRUE(math) << math.reason();
  EXPECT_EQ(math->name(), "libm.so.6");
  const auto cosine = math->function<double (*)(double)>("cos");
  ASSERT_NE(cosine, nullptr);
  EXPECT_EQ(cosine(0), 1);
  EXPECT_EQ(math->function<void (*)()>("no_such_function"), nullptr);
}

TEST(DynamicLibrary, TriesEachName) {
  const auto math = DynamicLibrary::open({"libm.so.999", "libm.so.6"});
  ASSERT_TRUE(math);
  EXPECT_EQ(math->name(), "libm.so.6");
}

TEST(DynamicLibrary, NamesWhatItTriedAndWhy) {
  const auto none = DynamicLibrary::open({"libnone.so.2", "libnone.so"});
  ASSERT_FALSE(none);
  const std::string why = "cannot open shared object file: No such file or directory";
  EXPECT_EQ(none.reason(), "libnone.so.2 (" + why + "), libnone.so (" + why + ")");
  EXPECT_EQ(DynamicLibrary::open({}).reason(), "no name was given");
}

}  // namespace
}  // namespace lab
