#pragma once
// Captures error messages for tests.
#include <gtest/gtest.h>

#include <string>

#include "compute/core/error.h"

namespace lab::test {

// Returns the message of the Error that `body` throws. Fails the test if its code is not `code`;
// returns "" and fails the test if nothing is thrown.
template <typename Body>
std::string message_of(const Body& body, Errc code) {
  try {
    body();
  } catch (const Error& e) {
    EXPECT_EQ(to_string(e.code()), std::string(to_string(code))) << e.what();
    return e.what();
  }
  ADD_FAILURE() << "no exception was thrown";
  return {};
}

}  // namespace lab::test
