// For tests that are slow under the thread sanitizer and whose use of threads smaller tests repeat.
#pragma once

#include <gtest/gtest.h>

#include "compute/core/sanitizers.h"

#ifdef LAB_THREAD_SANITIZER
constexpr bool kThreadSanitizer = true;
#define SKIP_UNDER_THREAD_SANITIZER() GTEST_SKIP() << "slow under the thread sanitizer"
#else
constexpr bool kThreadSanitizer = false;
#define SKIP_UNDER_THREAD_SANITIZER() static_cast<void>(0)
#endif
