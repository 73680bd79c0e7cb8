#include "compute/machine/affinity.h"

#include <gtest/gtest.h>

#include <thread>

namespace lab {
namespace {

// On threads of their own, because the mask belongs to the thread.
TEST(Affinity, KeepsAThreadWhereItIsPut) {
  std::thread([] {
    const std::vector<int> all = thread_affinity();
    ASSERT_FALSE(all.empty());
    const std::vector<int> last = {all.back()};
    EXPECT_TRUE(set_thread_affinity(last));
    EXPECT_EQ(thread_affinity(), last);
    EXPECT_TRUE(set_thread_affinity(all));
    EXPECT_EQ(thread_affinity(), all);
  }).join();
}

TEST(Affinity, RefusesProcessorsThatAreNotThere) {
  std::thread([] {
    const std::vector<int> before = thread_affinity();
    EXPECT_FALSE(set_thread_affinity({}));
    for (const int processor : {-1, 5000, 1 << 19, 1 << 30}) {
      EXPECT_FALSE(set_thread_affinity({&processor, 1})) << processor;
    }
    EXPECT_EQ(thread_affinity(), before);
  }).join();
}

TEST(Affinity, TakesWhatIsThereOfAList) {
  std::thread([] {
    const std::vector<int> first = {thread_affinity().front()};
    const std::vector<int> with_unknown = {first.front(), 5000};
    EXPECT_TRUE(set_thread_affinity(with_unknown));
    EXPECT_EQ(thread_affinity(), first);
  }).join();
}

}  // namespace
}  // namespace lab
