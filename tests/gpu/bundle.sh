#!/usr/bin/env bash
# Creates a folder that runs on another Linux with this machine's kind of processor (x86-64 or ARM)
# and an NVIDIA driver: device-lab without a window, its CUDA library, the GPU tests, the benchmarks
# (gpu_bench_*) and the shared libraries they need, except glibc, the driver and CUDA's own
# libraries, which run_all.sh finds on the target machine.
#   tests/gpu/bundle.sh FOLDER [BUILD_FOLDER]      FOLDER must be empty or absent
# Environment: LAB_CUDA_ARCHITECTURES selects the GPU architectures (default 80, 90a and PTX);
# LAB_BUNDLE_MIB limits the size in MiB (default 72).
set -euo pipefail
project=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
most_mib=${LAB_BUNDLE_MIB:-72}

die() {
  echo "bundle.sh: $*" >&2
  exit 1
}

(($# == 1 || $# == 2)) || die "usage: bundle.sh FOLDER [BUILD_FOLDER]"
mkdir -p -- "$1"
folder=$(cd -- "$1" && pwd)
[[ -z $(ls -A -- "$folder") ]] || die "$folder is not empty; name a new folder"
build=${2:-$project/build/gpu-bundle}

# DT_RPATH, unlike DT_RUNPATH, also applies to the dependencies of the libraries.
cmake -S "$project" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DLAB_GUI=OFF -DLAB_MPI=OFF \
  -DLAB_CUDA=ON -DLAB_TESTS=ON -DLAB_CUDA_ARCHITECTURES="${LAB_CUDA_ARCHITECTURES:-80-real;90a-real;90-virtual}" \
  -DCMAKE_BUILD_RPATH='$ORIGIN/lib' \
  -DCMAKE_EXE_LINKER_FLAGS=-Wl,--disable-new-dtags -DCMAKE_MODULE_LINKER_FLAGS=-Wl,--disable-new-dtags
cmake --build "$build" --target gpu_tests

shopt -s nullglob
programs=("$build/device-lab" "$build/libdevice-lab-cuda.so" "$build"/gpu_test_* "$build"/gpu_bench_*)
for program in "${programs[@]}"; do
  [[ -f $program && -x $program ]] || continue
  strip --strip-unneeded -o "$folder/${program##*/}" "$program"
done
cp "$project"/tests/gpu/{run_all.sh,sanitize.sh,libraries.sh,bars.py,peers.py,results.py,training.py} \
  "$project/tests/bench/torch_models.py" "$folder/"

# Provided by the target machine: the C library and its loader, the driver, CUDA.
c_library='^(linux-vdso|ld-linux-[a-z0-9_-]*|libc|libm|libdl|librt|libpthread|libresolv|libutil|libanl)\.so'
cuda='^lib(cuda|cudart|cublas|cublasLt|cudnn.*|nccl|cupti|nvidia-.*)\.so'
libraries=$(mktemp -d)
trap 'rm -rf "$libraries"' EXIT
for program in "$folder"/device-lab "$folder"/*.so "$folder"/gpu_*; do
  ldd "$program" | awk '$2 == "=>" && $3 ~ /^\// { print $1, $3 }'
done | sort -u | while read -r name path; do
  [[ $name =~ $c_library || $name =~ $cuda ]] || cp -L -- "$path" "$libraries/$name"
done
[[ -n $(ls -A "$libraries") ]] || die "no libraries found with ldd"
# The compiler's run-time libraries need the newest glibc; libraries.sh uses the target's where it
# can.
mkdir "$libraries/gcc"
for library in "$libraries"/libstdc++.so.6 "$libraries"/libgcc_s.so.1; do
  [[ ! -f $library ]] || mv -- "$library" "$libraries/gcc/"
done

# Prints the glibc version that these files need, such as 2.34.
needed_glibc() {
  (($# == 0)) || objdump -T "$@" 2>/dev/null | grep -oE 'GLIBC_2\.[0-9]+' | sort -uV | sed -n '$s/GLIBC_//p' || true
}
needs=$(needed_glibc "$folder"/device-lab "$folder"/*.so "$folder"/gpu_* "$libraries"/*.so*)
gcc_needs=$(needed_glibc "$libraries"/gcc/*)

# Compressed, because two of them contain kernels for many processors; run_all.sh unpacks them into
# lib/.
tar -C "$libraries" -cf - . | xz -6 -T0 >"$folder/libraries.tar.xz"

{
  echo "architectures ${LAB_CUDA_ARCHITECTURES:-80-real;90a-real;90-virtual}"
  { nvcc --version 2>/dev/null || true; } | sed -n 's/.*release /nvcc /p'
  echo "needs glibc $needs"
  [[ -z $gcc_needs ]] || echo "its libstdc++ needs glibc $gcc_needs"
} >"$folder/made_with.txt"

mib=$(du -sm --apparent-size "$folder" | cut -f1)
((mib < most_mib)) || die "$folder has $mib MiB; it must stay under $most_mib"
echo "$folder: $mib MiB; run $folder/run_all.sh RESULTS there"
