#include "compute/core/error.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <new>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <system_error>

#include "tests/support/errors.h"

namespace lab {
namespace {

// The Error that a catch block makes of `thrown`.
template <typename Thrown>
Error caught(const Thrown& thrown) {
  try {
    throw thrown;
  } catch (...) {
    return current_error();
  }
}

TEST(CurrentError, KeepsErrors) {
  const Error e = caught(Error(Errc::Io, "a: no space is left"));
  EXPECT_EQ(e.code(), Errc::Io);
  EXPECT_STREQ(e.what(), "a: no space is left");
}

TEST(CurrentError, NamesTheResourceThatIsMissing) {
  EXPECT_EQ(caught(std::bad_alloc()).code(), Errc::OutOfMemory);
  const Error e = caught(std::system_error(EAGAIN, std::generic_category()));
  EXPECT_EQ(e.code(), Errc::OutOfMemory);
  EXPECT_NE(std::string(e.what()).find("ulimit -v"), std::string::npos) << e.what();
}

TEST(CurrentError, CallsAnythingElseInternal) {
  for (const Error& e : {caught(std::runtime_error("odd")), caught(7),
                         caught(std::system_error(ENOENT, std::generic_category())),
                         caught(std::filesystem::filesystem_error(
                             "a", std::error_code(EAGAIN, std::generic_category())))}) {
    EXPECT_EQ(e.code(), Errc::Internal);
    EXPECT_EQ(std::string(e.what()).rfind("internal error: ", 0), 0U) << e.what();
  }
}

TEST(ThrowIfCancelled, ThrowsOnceAStopIsRequested) {
  std::stop_source stop;
  EXPECT_NO_THROW(throw_if_cancelled(stop.get_token()));
  stop.request_stop();
  EXPECT_EQ(test::message_of([&] { throw_if_cancelled(stop.get_token()); }, Errc::Cancelled),
            "cancelled");
}

}  // namespace
}  // namespace lab
