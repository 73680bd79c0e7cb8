#include "app/headless/headless_lab.h"

#include <gtest/gtest.h>
#include <signal.h>

#include "compute/core/error.h"

namespace lab::app {
namespace {

class Silent final : public Printer {
 public:
  void show(const Payload&) override {}
};

Errc job_failure(HeadlessLab& lab, const JobCommand& command) {
  Silent printer;
  try {
    lab.run(command, printer);
  } catch (const Error& e) {
    return e.code();
  }
  ADD_FAILURE() << "the job did not fail";
  return Errc::Internal;
}

TEST(HeadlessLab, KeepsTheErrorCodeOfAJob) {
  Interrupt interrupt;
  HeadlessLab lab(1, interrupt);
  StartMatmul request;
  request.kernels = {"nosuch"};
  EXPECT_EQ(job_failure(lab, request), Errc::Usage);
  EXPECT_EQ(job_failure(lab, FreeTensor{}), Errc::NotFound);
}

TEST(HeadlessLab, EarlierInterruptCancelsTheJob) {
  Interrupt interrupt;
  ::raise(SIGINT);
  HeadlessLab lab(1, interrupt);
  EXPECT_EQ(job_failure(lab, StartTraining{}), Errc::Cancelled);
}

}  // namespace
}  // namespace lab::app
