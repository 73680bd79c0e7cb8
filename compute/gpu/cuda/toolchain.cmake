# Enables nvcc and selects its target architectures. Included from the top-level list file, because
# enable_language must be called there.
include(${CMAKE_CURRENT_LIST_DIR}/find_nvcc.cmake)

# Sets `result` to the architectures of the local GPUs, "90a-real;120a-real"; empty if there are
# none. From 9.0 on, each has architecture-specific instructions, selected by the suffix a.
# nvidia-smi does not know the GPU of a Jetson Orin, which runs only code compiled for itself.
function(lab_local_cuda_architectures result)
  set(${result} "" PARENT_SCOPE)
  if(EXISTS /proc/device-tree/compatible)
    file(STRINGS /proc/device-tree/compatible orin REGEX "nvidia,tegra234")
    if(orin)
      set(${result} 87-real PARENT_SCOPE)
      return()
    endif()
  endif()
  find_program(LAB_NVIDIA_SMI nvidia-smi)
  mark_as_advanced(LAB_NVIDIA_SMI)
  if(NOT LAB_NVIDIA_SMI)
    return()
  endif()
  execute_process(COMMAND ${LAB_NVIDIA_SMI} --query-gpu=compute_cap --format=csv,noheader
                  OUTPUT_VARIABLE told ERROR_QUIET RESULT_VARIABLE failed TIMEOUT 20)
  if(failed)
    return()
  endif()
  string(REGEX MATCHALL "[0-9]+\\.[0-9]" capabilities "${told}")
  set(found "")
  foreach(capability IN LISTS capabilities)
    string(REPLACE "." "" number ${capability})
    if(number LESS 80)  # the kernels use instructions introduced with 8.0
      continue()
    endif()
    if(number GREATER_EQUAL 90)
      string(APPEND number "a")
    endif()
    list(APPEND found ${number}-real)
  endforeach()
  list(REMOVE_DUPLICATES found)
  set(${result} "${found}" PARENT_SCOPE)
endfunction()

if(CMAKE_CUDA_COMPILER)
  set(LAB_NVCC ${CMAKE_CUDA_COMPILER})
elseif(NOT "$ENV{CUDACXX}" STREQUAL "")
  set(LAB_NVCC $ENV{CUDACXX})
else()
  set(LAB_NVCC nvcc)
endif()
lab_require_cuda("${LAB_NVCC}")

set(LAB_CUDA_ARCHITECTURES "" CACHE STRING
    "Architectures in the format of CMAKE_CUDA_ARCHITECTURES; empty: this machine's GPUs, else 80, 90a and PTX")
set(LAB_CUDA_ARCHITECTURES_USED "${LAB_CUDA_ARCHITECTURES}")
if(NOT LAB_CUDA_ARCHITECTURES_USED)
  lab_local_cuda_architectures(LAB_CUDA_ARCHITECTURES_USED)
  lab_known_cuda_architectures(LAB_CUDA_ARCHITECTURES_USED "${LAB_NVCC}"
                               "${LAB_CUDA_ARCHITECTURES_USED}")
endif()
if(NOT LAB_CUDA_ARCHITECTURES_USED)
  set(LAB_CUDA_ARCHITECTURES_USED 80-real 90a-real 90-virtual)
endif()
set(CMAKE_CUDA_ARCHITECTURES ${LAB_CUDA_ARCHITECTURES_USED})
message(STATUS "CUDA architectures: ${CMAKE_CUDA_ARCHITECTURES}")

if(LAB_CCACHE_NVCC AND NOT CMAKE_CUDA_COMPILER_LAUNCHER)
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${LAB_CCACHE_NVCC})
endif()
enable_language(CUDA)
# Where nvcc has a host compiler of its own, older than the C++ compiler, which links, these folders
# would come first and have an older libstdc++.
list(FILTER CMAKE_CUDA_IMPLICIT_LINK_DIRECTORIES EXCLUDE REGEX "/lib(32|64)?/gcc/")
if(LAB_TESTS)  # which read the reports
  list(PREPEND CMAKE_CUDA_COMPILER_LAUNCHER ${CMAKE_CURRENT_LIST_DIR}/report_registers)
endif()

# CMake before 3.26 does not know the C++20 flag of nvcc.
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
endif()
set(CMAKE_CUDA_STANDARD 20)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
set(CMAKE_CUDA_EXTENSIONS OFF)

# Flags of every target with .cu files: constexpr functions are callable on the device, and the code
# that nvcc passes to the host compiler is compiled with the project's warnings except -Wpedantic,
# which nvcc's own code does not satisfy.
add_library(lab_cuda_flags INTERFACE)
target_include_directories(lab_cuda_flags INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(lab_cuda_flags INTERFACE
  "$<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr;-Xcompiler=-Wall,-Wextra,-Wshadow>")
if(LAB_WERROR)
  target_compile_options(lab_cuda_flags INTERFACE
    "$<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings;-Xcompiler=-Werror>")
endif()
