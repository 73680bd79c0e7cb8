#!/usr/bin/env bash
# Writes device-lab.pot from the texts marked in the sources and merges it into the catalogs beside it.
# New texts appear with an empty msgstr, texts that are gone are removed. `update.sh POT` only writes
# the file POT.
set -euo pipefail
folder=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
cd -- "$folder/../.."
export LC_ALL=C

extract() { # FILE
  find app compute ui \( -name '*.cpp' -o -name '*.h' -o -name '*.cuh' \) -print | sort |
    xgettext --files-from=- --output="$1" --language=C++ --from-code=UTF-8 \
      --keyword --keyword=tr --keyword=trf --keyword=LAB_TEXT --add-location=file --sort-output \
      --package-name='Device Lab' --copyright-holder='Device Lab' --no-wrap
  # Only the header's charset is of use. Placeholders are fmt's; a % is never one of printf's.
  sed -i -e '1,/^$/{/^#/d;/Report-Msgid\|POT-Creation\|PO-Revision\|Last-Trans\|Language/d;s/CHARSET/UTF-8/}' \
    -e '/^#, .*c-format$/d' "$1"
}

if (($# == 1)); then
  extract "$1"
  exit
fi
extract "$folder/device-lab.pot"
for language in zh ja vi; do
  msgmerge --quiet --update --backup=none --no-fuzzy-matching --no-wrap --add-location=file \
    --sort-output "$folder/$language.po" "$folder/device-lab.pot"
  msgattrib --no-obsolete --no-wrap --add-location=file --sort-output \
    --output-file="$folder/$language.po" "$folder/$language.po"
done
