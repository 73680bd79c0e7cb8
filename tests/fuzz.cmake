# lab_fuzz(<name> <module> <source>) adds the fuzz target fuzz_<name>, which feeds <module>. CTest runs
# it for LAB_FUZZ_SECONDS, seeded with small valid files. The target `fuzzers` builds all of them.
if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  message(FATAL_ERROR "LAB_FUZZ needs clang, which brings libFuzzer; use the preset fuzz")
endif()
set(LAB_FUZZ_SECONDS 10 CACHE STRING "How long CTest runs each fuzz target")

add_custom_target(fuzzers)
function(lab_fuzz name module source)
  add_executable(fuzz_${name} EXCLUDE_FROM_ALL ${source})
  target_link_libraries(fuzz_${name} PRIVATE ${module})
  target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  add_dependencies(fuzzers fuzz_${name})

  set(corpus ${CMAKE_CURRENT_BINARY_DIR}/corpus/${name})
  add_test(NAME fuzz.${name}.seeds
           COMMAND ${LAB_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/support/fuzz_seeds.py ${name} ${corpus})
  add_test(NAME fuzz.${name}
           COMMAND fuzz_${name} -max_total_time=${LAB_FUZZ_SECONDS} -timeout=10 -rss_limit_mb=2048
                   -max_len=65536 -artifact_prefix=${corpus}/../ ${corpus})
  set_tests_properties(fuzz.${name}.seeds PROPERTIES FIXTURES_SETUP seeds_${name} LABELS fuzz)
  set_tests_properties(fuzz.${name} PROPERTIES FIXTURES_REQUIRED seeds_${name} LABELS fuzz)
endfunction()

lab_fuzz(idx lab_idx compute/data/idx_fuzz.cpp)
lab_fuzz(safetensors lab_safetensors compute/nn/safetensors_fuzz.cpp)
