#pragma once
// The catalogs embedded in the program, and the one in use. For fonts, which need the characters of
// the texts, and for tests.
#include <string_view>

#include "compute/core/language.h"
#include "compute/core/mo_catalog.h"

namespace lab {

// Bytes of the .mo files; generated from assets/locale by the build.
extern const std::string_view kChineseCatalog, kJapaneseCatalog, kVietnameseCatalog;

const MoCatalog& catalog_of(Language language);  // empty for English

// The catalog that tr() uses: of language(), or the one of the last use_catalog().
const MoCatalog& active_catalog();
// Translates with another catalog, which must stay valid, until the next set_language().
void use_catalog(const MoCatalog& catalog);

// A shared object that the program loads has its own copy of this module. It translates as the
// program does once it shares the program's slot, which must stay valid until the next call.
CatalogSlot& catalog_slot();
void share_catalog_slot(CatalogSlot& slot);

}  // namespace lab
