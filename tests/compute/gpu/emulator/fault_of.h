#pragma once
// Runs a kernel with a planted fault and returns the message of the Fault.
#include <gtest/gtest.h>

#include <functional>
#include <ostream>
#include <string>

#include "compute/gpu/emulator/fault.h"
#include "compute/gpu/emulator/launch.h"

namespace lab::simt {

// Returns the message of the Fault that ends the launch. Fails the test unless it is of this kind.
inline std::string fault_of(FaultKind kind, const LaunchOptions& options,
                            const std::function<void()>& body) {
  try {
    launch(options, body);
  } catch (const Fault& fault) {
    EXPECT_EQ(static_cast<int>(fault.kind()), static_cast<int>(kind)) << fault.what();
    return fault.what();
  }
  ADD_FAILURE() << "no fault was detected";
  return {};
}

inline ::testing::AssertionResult has(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << '"' << text << "\" lacks \"" << part << '"';
}

}  // namespace lab::simt
