/* A fuzz test of the reader of three-body potentials. Any bytes are read or refused, without a crash, a leak or a hang;
 * a potential of what was read is finite or refused. The first byte chooses the style.
 * Built with -fsanitize=fuzzer,address,undefined. */
#include "validate/unit/support/sim_fixture.h"

#include "src/potential/three_body_file.h"

#include <stdlib.h>
#include <string.h>

static void make_potential(const md_three_values *values)
{
  md_three_body *three;
  if (md_three_body_new(&three, values, 2) != MD_OK) return;
  for (int a = 0; a < 2; ++a)
    for (int b = 0; b < 2; ++b)
      if (!isfinite(md_three_reach(three, a, b)) ||
          md_three_reach(three, a, b) != md_three_reach(three, b, a))
        abort();
  md_three_body_free(three);
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
  md_three_values values = {.form = data[0] & 1 ? MD_THREE_SW : MD_THREE_VASHISHTA,
                            .nelement = 2,
                            .name = {"A", "B"},
                            .charges = 14.399645};
  if (md_three_body_read(&f, &values) == MD_OK) make_potential(&values);
  free(values.value);
  free(text);
  return 0;
}
