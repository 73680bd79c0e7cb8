# Checks which of several CUDA Toolkits is chosen, and for which GPUs: cmake -DSOURCE=ROOT -DFOLDER=SCRATCH -P this file.
cmake_minimum_required(VERSION 3.22)
include(${SOURCE}/compute/gpu/cuda/find_nvcc.cmake)

# expect(NVCC VERSION...) installs these toolkits and compares the choice.
function(expect expected)
  file(REMOVE_RECURSE ${FOLDER})
  foreach(version IN LISTS ARGN)
    file(WRITE ${FOLDER}/cuda-${version}/bin/nvcc "")
  endforeach()
  lab_find_cuda_12(found ${FOLDER})
  string(REPLACE "${FOLDER}/" "" found "${found}")
  if(NOT found STREQUAL expected)
    message(FATAL_ERROR "of the toolkits ${ARGN}: found '${found}', expected '${expected}'")
  endif()
endfunction()

expect("")
expect("" 11.8 13.0)
expect("" 12.3 13.0)
expect("cuda-12.4/bin/nvcc" 12.3 12.4 13.0)
expect("cuda-12.9/bin/nvcc" 12.4 12.8 12.9 13.0)
expect("cuda-12.10/bin/nvcc" 12.9 12.10)

# expect_architectures(EXPECTED WANTED...) asks an nvcc that knows the GPUs up to Hopper.
function(expect_architectures expected)
  file(WRITE ${FOLDER}/nvcc "#!/bin/sh\nprintf 'sm_80\\nsm_90\\n'\n")
  file(CHMOD ${FOLDER}/nvcc PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
  lab_known_cuda_architectures(known ${FOLDER}/nvcc "${ARGN}")
  if(NOT known STREQUAL expected)
    message(FATAL_ERROR "of ${ARGN}: '${known}', expected '${expected}'")
  endif()
endfunction()

expect_architectures("80-real;90a-real" 80-real 90a-real)
expect_architectures("90a-real;90-virtual" 90a-real 100a-real 120a-real)
expect_architectures("" "")
file(REMOVE_RECURSE ${FOLDER})
