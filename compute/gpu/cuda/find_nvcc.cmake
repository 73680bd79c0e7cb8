# Sets `result` to nvcc of the newest CUDA 12, from 12.4 on, in `root`/cuda-12.N; empty if there is
# none. A program built with CUDA 12 runs on drivers from 525 on, one built with CUDA 13 needs 580.
function(lab_find_cuda_12 result root)
  set(${result} "" PARENT_SCOPE)
  file(GLOB compilers "${root}/cuda-12.*/bin/nvcc")
  list(SORT compilers COMPARE NATURAL ORDER DESCENDING)
  foreach(compiler IN LISTS compilers)
    if(compiler MATCHES "/cuda-(12\\.[0-9]+)" AND CMAKE_MATCH_1 VERSION_GREATER_EQUAL 12.4)
      set(${result} ${compiler} PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

# Sets `result` to the architectures, but 90-virtual, which the driver compiles further, in place of
# those that `compiler` does not know.
function(lab_known_cuda_architectures result compiler architectures)
  execute_process(COMMAND ${compiler} --list-gpu-code OUTPUT_VARIABLE told ERROR_QUIET
                  RESULT_VARIABLE failed TIMEOUT 20)
  set(known "")
  foreach(architecture IN LISTS architectures)
    string(REGEX MATCH "^[0-9]+" number ${architecture})
    if(failed OR told MATCHES "sm_${number}[^0-9]")
      list(APPEND known ${architecture})
    else()
      message(STATUS "${compiler} does not know ${architecture}: compiling PTX for that GPU")
      list(APPEND known 90-virtual)
    endif()
  endforeach()
  list(REMOVE_DUPLICATES known)
  set(${result} "${known}" PARENT_SCOPE)
endfunction()

# Stops if `compiler` is too old; CMake's own test of it would fail with other words. A compiler that
# cannot be asked is left to that test.
function(lab_require_cuda compiler)
  execute_process(COMMAND ${compiler} --version OUTPUT_VARIABLE told ERROR_QUIET
                  RESULT_VARIABLE failed TIMEOUT 20)
  if(NOT failed AND told MATCHES "release ([0-9]+\\.[0-9]+)" AND CMAKE_MATCH_1 VERSION_LESS 12.4)
    message(FATAL_ERROR "The CUDA backend needs CUDA 12.4 or later, but ${compiler} is of "
                        "${CMAKE_MATCH_1}. Build without CUDA (-DLAB_CUDA=OFF), or remove "
                        "CMakeCache.txt from the build folder and set CUDACXX to a later nvcc.")
  endif()
endfunction()
