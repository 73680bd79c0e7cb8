#pragma once
// LAB_ADDRESS_SANITIZER and LAB_THREAD_SANITIZER are defined in a build with that sanitizer.

#if defined(__SANITIZE_ADDRESS__)  // GCC
#define LAB_ADDRESS_SANITIZER
#elif defined(__has_feature)  // Clang
#if __has_feature(address_sanitizer)
#define LAB_ADDRESS_SANITIZER
#endif
#endif

#if defined(__SANITIZE_THREAD__)  // GCC
#define LAB_THREAD_SANITIZER
#elif defined(__has_feature)  // Clang
#if __has_feature(thread_sanitizer)
#define LAB_THREAD_SANITIZER
#endif
#endif
