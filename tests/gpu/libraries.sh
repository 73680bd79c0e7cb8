# shellcheck shell=bash disable=SC2154 # the script that sources it sets $here
# Sourced by a bundle's scripts with $here set. Unpacks the bundle's libraries, chooses the newer of
# the bundle's and the machine's libstdc++, and locates CUDA's libraries in a pip or toolkit
# installation. Ends the script if the machine's glibc is too old.
# Python reads xz too, where tar lacks the program.
unpack_libraries() {
  rm -rf -- "$here/lib.new" && mkdir -- "$here/lib.new" || return 1
  if command -v xz >/dev/null; then
    tar -C "$here/lib.new" -xJf "$here/libraries.tar.xz"
  else
    python3 -m tarfile -e "$here/libraries.tar.xz" "$here/lib.new"
  fi && mv -- "$here/lib.new" "$here/lib"
}
if [[ -f $here/libraries.tar.xz && ! -d $here/lib ]]; then
  unpack_libraries || exit 1
fi

# Whether version $1 is at least version $2.
at_least() {
  [[ $(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n 1) == "$2" ]]
}
newest_glibcxx() {
  LC_ALL=C grep -aohE 'GLIBCXX_3\.4\.[0-9]+' -- "$1" 2>/dev/null | sort -uV | tail -n 1
}

# Requires glibc $1 for what $2 names.
require_glibc() {
  local found
  found=$(getconf GNU_LIBC_VERSION 2>/dev/null | sed 's/^glibc //')
  if [[ -n $1 && -n $found ]] && ! at_least "$found" "$1"; then
    echo "${0##*/}: $2 needs glibc $1 or later, and this machine has $found; make the bundle on an" \
      "older system, or use a machine with a newer one" >&2
    exit 1
  fi
}

choose_libstdcxx() {
  local own=$here/lib/gcc/libstdc++.so.6 host abi=x86-64
  [[ -f $own ]] || return 0
  [[ $(uname -m) != aarch64 ]] || abi=AArch64
  host=$(PATH=$PATH:/usr/sbin:/sbin ldconfig -p 2>/dev/null |
    sed -n "s/.*libstdc++\.so\.6 (libc6,$abi.*) => //p" | head -n 1)
  if [[ -n $host ]] && at_least "$(newest_glibcxx "$host")" "$(newest_glibcxx "$own")"; then
    rm -f -- "$here"/lib/libstdc++.so.6 "$here"/lib/libgcc_s.so.1
    return 0
  fi
  require_glibc "$(sed -n 's/^its libstdc++ needs glibc //p' "$here/made_with.txt")" \
    "the bundle's libstdc++, which is newer than this machine's,"
  cp -- "$here"/lib/gcc/* "$here/lib/"
}

if [[ -f $here/made_with.txt ]]; then
  require_glibc "$(sed -n 's/^needs glibc //p' "$here/made_with.txt")" "this bundle"
  choose_libstdcxx
fi

python_libraries() {
  command -v python3 >/dev/null || return 0
  python3 - <<'PY'
import glob, site, sys
places = list(sys.path) + site.getsitepackages() + [site.getusersitepackages()]
print(":".join(sorted({f for p in places if p for f in glob.glob(p + "/nvidia/*/lib")})))
PY
}
for found in "$(python_libraries 2>/dev/null)" /usr/local/cuda/lib64; do
  if [[ -n $found ]]; then
    LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$found
  fi
done
export LD_LIBRARY_PATH
