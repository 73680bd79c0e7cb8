#include "compute/gpu/gpu_loader.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "compute/gpu/dynamic_library.h"
#include "tests/support/catalogs.h"
#include "tests/support/temp_dir.h"

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

TEST(DynamicLibrary, TriesEveryName) {
  const auto math = DynamicLibrary::open({"libm.so.999", "libm.so.6"});
  ASSERT_TRUE(math);
  EXPECT_EQ(math->name(), "libm.so.6");
}

TEST(DynamicLibrary, ReportsEveryAttemptAndReason) {
  const auto none = DynamicLibrary::open({"libnone.so.2", "libnone.so"});
  ASSERT_FALSE(none);
  const std::string why = "cannot open shared object file: No such file or directory";
  EXPECT_EQ(none.reason(), "libnone.so.2 (" + why + "), libnone.so (" + why + ")");
  EXPECT_EQ(DynamicLibrary::open({}).reason(), "no name was given");
}

GpuBackendResult load(const std::vector<std::string>& places) {
  return load_gpu_backend(places);
}

TEST(GpuLoader, SearchesProgramAndInstallFolders) {
  const auto places = gpu_library_paths();
  ASSERT_EQ(places.size(), 2U);
  EXPECT_TRUE(places[0].ends_with(kGpuLibrary)) << places[0];
  EXPECT_TRUE(places[1].ends_with("/lib/device-lab/libdevice-lab-cuda.so")) << places[1];
}

TEST(GpuLoader, ReportsMissingFile) {
  const GpuBackendResult offer = load({"/nowhere/a.so", "/nowhere/b.so"});
  EXPECT_FALSE(offer.backend);
  EXPECT_FALSE(offer.driver_answered);
  EXPECT_EQ(offer.reason,
            "the lab's CUDA backend (libdevice-lab-cuda.so) was not found at /nowhere/a.so or "
            "/nowhere/b.so; install it there");
}

TEST(GpuLoader, RejectsNonLibraryFile) {
  const test::TempDir dir;
  const std::string file = (dir.path() / "text.so").string();
  std::ofstream(file) << "not a library";
  const GpuBackendResult offer = load({file});
  EXPECT_EQ(offer.reason.rfind("the lab's CUDA backend cannot be loaded: " + file, 0), 0U)
      << offer.reason;
}

TEST(GpuLoader, RejectsLibraryWithoutEntry) {
  // Any system library works. libm exists under this name because this program is linked to it.
#if defined(__aarch64__)
  const char* const libm = "/lib/aarch64-linux-gnu/libm.so.6";
#else
  const char* const libm = "/lib/x86_64-linux-gnu/libm.so.6";
#endif
  const GpuBackendResult offer = load({libm, "/lib64/libm.so.6"});
  if (offer.reason.find("is missing") != std::string::npos) GTEST_SKIP() << offer.reason;
  EXPECT_NE(offer.reason.find("it lacks lab_gpu_entry"), std::string::npos) << offer.reason;
}

TEST(GpuLoader, RejectsLibraryOfAnotherBuild) {
  const GpuBackendResult offer = load({LAB_FAKE_OTHER});
  EXPECT_FALSE(offer.backend);
  EXPECT_NE(offer.reason.find("belongs to another version of the lab (its interface is 0,"),
            std::string::npos)
      << offer.reason;
}

TEST(GpuLoader, SharesTheCatalogWithTheLibrary) {
  const std::map<std::string, std::string> translations = {{"Stop", "Dừng"}};
  const test::WithCatalog catalog(translations);
  EXPECT_EQ(load({LAB_FAKE_SAME}).reason, "this stand-in was given a catalog");
}

TEST(GpuLoader, ForwardsTheReasonOfTheLibrary) {
  const GpuBackendResult offer = load({"/nowhere/a.so", LAB_FAKE_SAME});
  EXPECT_FALSE(offer.backend);
  EXPECT_TRUE(offer.driver_answered);
  EXPECT_EQ(offer.reason, "this stand-in has no GPUs");
}

}  // namespace
}  // namespace lab
