#pragma once
// Waits with a time limit, so that a condition that never holds fails its test instead of hanging
// it.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <thread>

namespace lab::test {

// Far above the time that any condition needs on one busy core under a sanitizer.
inline constexpr std::chrono::seconds kWaitLimit{120};

// Polls `holds` until it returns true; fails after kWaitLimit. `holds` may block briefly.
inline testing::AssertionResult eventually(const std::function<bool()>& holds) {
  const auto end = std::chrono::steady_clock::now() + kWaitLimit;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end) {
      return testing::AssertionFailure() << "did not hold within " << kWaitLimit.count() << " s";
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return testing::AssertionSuccess();
}

}  // namespace lab::test
