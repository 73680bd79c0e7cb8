# Each unit/<module>/<name>_fuzz.cpp becomes fuzz_<name>, linked with lab_<module>; CTest runs it
# for some seconds from small valid files. The target `fuzzers` builds them all.
if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  message(FATAL_ERROR "LAB_FUZZ needs clang, which brings libFuzzer; use the preset fuzz")
endif()
set(LAB_FUZZ_SECONDS 10 CACHE STRING "How long CTest runs each fuzz target")

add_custom_target(fuzzers)
file(GLOB fuzz_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/unit/*/*_fuzz.cpp)
foreach(source IN LISTS fuzz_sources)
  get_filename_component(name ${source} NAME_WE)
  string(REGEX REPLACE "_fuzz$" "" name ${name})
  get_filename_component(module ${source} DIRECTORY)
  get_filename_component(module ${module} NAME)

  add_executable(fuzz_${name} ${source})
  target_link_libraries(fuzz_${name} PRIVATE lab_${module})
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
endforeach()
