# Sourced by a bundle's scripts with $here set. Unpacks the bundle's libraries and locates CUDA's
# own in a pip or toolkit installation.
if [[ -f $here/libraries.tar.gz && ! -d $here/lib ]]; then
  mkdir -p "$here/lib.new" && tar -C "$here/lib.new" -xzf "$here/libraries.tar.gz" &&
    mv "$here/lib.new" "$here/lib" || exit 1
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
