# Cross-compiles for 64-bit ARM with Debian's compiler; tests run under qemu-aarch64-static. The libraries
# come from LAB_ARM64_SYSROOT, a folder that .ci/arm64_sysroot fills.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)

# CMake's test projects read this file too and must find the same folder.
set(LAB_ARM64_SYSROOT "" CACHE PATH "Folder with the libraries for 64-bit ARM")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES LAB_ARM64_SYSROOT)
if(NOT EXISTS ${LAB_ARM64_SYSROOT}/usr/lib/aarch64-linux-gnu)
  message(FATAL_ERROR "LAB_ARM64_SYSROOT is '${LAB_ARM64_SYSROOT}', which has no libraries for 64-bit ARM; "
                      "create it with .ci/arm64_sysroot FOLDER")
endif()
set(CMAKE_SYSROOT ${LAB_ARM64_SYSROOT})
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

# The last folder is OpenBLAS's own: a folder of unpacked packages has no alternatives.
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${CMAKE_SYSROOT})
set(ENV{PKG_CONFIG_PATH} "")
set(ENV{PKG_CONFIG_LIBDIR} "${CMAKE_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${CMAKE_SYSROOT}/usr/share/pkgconfig:${CMAKE_SYSROOT}/usr/lib/aarch64-linux-gnu/openblas-pthread/pkgconfig")

set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static -L ${CMAKE_SYSROOT})
