#pragma once
// What a call throws, for tests of error sentences.
#include <gtest/gtest.h>

#include <string>

#include "compute/core/error.h"

namespace lab::test {

// The message of the Error that `body` throws, which must be of this code; "" and a failure when it
// throws none.
template <typename Body>
std::string message_of(const Body& body, Errc code) {
  try {
    body();
  } catch (const Error& e) {
    EXPECT_EQ(to_string(e.code()), std::string(to_string(code))) << e.what();
    return e.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

}  // namespace lab::test
