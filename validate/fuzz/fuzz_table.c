/* A fuzz test of the reader of tables. Any bytes are read or refused, without a crash, a leak or a hang; tables of what
 * was read are finite or refused. The first byte chooses the kind of the tables and their number of values.
 * Built with -fsanitize=fuzzer,address,undefined. */
#include "validate/unit/support/sim_fixture.h"

#include "src/potential/table_file.h"

#include <stdlib.h>
#include <string.h>

static void make_tables(const md_table_values *values, uint8_t choice)
{
  md_tables *tables;
  if (md_tables_new(&tables, choice & 1, 2 + (choice >> 1)) != MD_OK) abort();
  const double first = values->r[0], last = values->r[values->n - 1];
  if (!(first > 0.0 && last > first)) abort();
  if (md_tables_add(tables, values, choice & 2 ? last : 0.5 * (first + last)) != MD_OK && tables->count > 0)
    abort();
  md_tables_free(tables);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  if (size < 1) return 0;
  char *text = malloc(size);
  if (!text) abort();
  memcpy(text, data + 1, size - 1);
  text[size - 1] = '\0';
  md_text_file f = {.path = "fuzz", .text = text, .at = text, .line = 1};
  md_table_values values;
  if (md_table_read(&f, "ONE", &values) == MD_OK) make_tables(&values, data[0]);
  md_table_values_free(&values);
  free(text);
  return 0;
}
