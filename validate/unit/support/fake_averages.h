/* Stand-ins for src/averages, src/computes, dynamic groups and the resuming of formulas: there are no output fixes, no
 * dynamic groups and no computes of the host. They are weak definitions, as in fake_commands.h. */
#ifndef MD_VALIDATE_UNIT_FAKE_AVERAGES_H
#define MD_VALIDATE_UNIT_FAKE_AVERAGES_H

#include "src/averages/output_fix.h"
#include "src/computes/host_compute.h"
#include "src/formula/particle_values.h"
#include "src/group/dynamic_group.h"
#include "src/restart/resume.h"

#define MD_FAKE __attribute__((weak))

MD_FAKE md_output_fix *md_output_fix_find(const md_sim *sim, const char *id, size_t n)
{
  (void)sim, (void)id, (void)n;
  return NULL;
}

MD_FAKE const md_output_fix_style *md_output_fix_style_find(const char *name)
{
  (void)name;
  return NULL;
}

MD_FAKE const md_output_fix_style *md_output_fix_style_at(int k)
{
  (void)k;
  return NULL;
}

MD_FAKE md_status md_output_fix_new(md_sim *sim, const md_output_fix_style *style, const char *id, int group,
                                    const md_words *words)
{
  (void)sim, (void)style, (void)group, (void)words;
  return md_error(MD_USAGE, "fix %s: no output fixes", id);
}

MD_FAKE md_status md_output_fix_remove(md_sim *sim, md_output_fix *fix)
{
  (void)sim, (void)fix;
  return MD_OK;
}

MD_FAKE md_status md_output_fix_check_reset(const md_sim *sim)
{
  (void)sim;
  return MD_OK;
}

MD_FAKE md_status md_dynamic_group_make(md_sim *sim, int group, const md_words *words)
{
  (void)sim, (void)words;
  return md_error(MD_USAGE, "group %d: no dynamic groups", group);
}

MD_FAKE bool md_dynamic_group_is(const md_sim *sim, int group)
{
  (void)sim, (void)group;
  return false;
}

MD_FAKE md_status md_dynamic_group_end(md_sim *sim, int group)
{
  (void)sim, (void)group;
  return MD_OK;
}

MD_FAKE md_host_compute *md_host_compute_find(const md_sim *sim, const char *id, size_t n)
{
  (void)sim, (void)id, (void)n;
  return NULL;
}

MD_FAKE const md_host_compute_style *md_host_compute_style_find(const char *name)
{
  (void)name;
  return NULL;
}

MD_FAKE const md_host_compute_style *md_host_compute_style_at(int k)
{
  (void)k;
  return NULL;
}

MD_FAKE md_status md_host_compute_new(md_sim *sim, const md_host_compute_style *style, const char *id,
                                      int group, const md_words *words)
{
  (void)sim, (void)style, (void)group, (void)words;
  return md_error(MD_USAGE, "compute %s: no computes of the host", id);
}

MD_FAKE void md_host_compute_remove(md_sim *sim, md_host_compute *compute) { (void)sim, (void)compute; }

MD_FAKE md_status md_host_compute_update(md_sim *sim, md_host_compute *compute)
{
  (void)sim, (void)compute;
  return MD_OK;
}

MD_FAKE void md_host_computes_free(md_sim *sim) { (void)sim; }

MD_FAKE md_status md_values_check(const md_values *values, const char *name, bool vector)
{
  (void)values, (void)vector;
  return md_error(MD_USAGE, "%s: no values", name);
}

MD_FAKE md_status md_values_number(const md_values *values, const char *name, double *number)
{
  (void)number;
  return md_values_check(values, name, false);
}

/* As for fixes that act on forces, which are the only ones with values. */
MD_FAKE bool md_value_is_extensive(md_sim *sim, const char *name)
{
  (void)sim, (void)name;
  return true;
}

MD_FAKE md_status md_host_compute_range(const md_sim *sim, const char *word, const md_host_compute **compute,
                                        int *first, int *last)
{
  (void)sim, (void)word;
  *compute = NULL;
  *first = *last = 1;
  return MD_OK;
}

MD_FAKE bool md_is_value_name(const char *word)
{
  (void)word;
  return false;
}

MD_FAKE md_status md_value_names(md_sim *sim, const md_words *words, bool vectors, int *n, char ***name)
{
  (void)sim, (void)vectors, (void)n, (void)name;
  return md_error(MD_USAGE, "%s: no values", words->word[0]);
}

MD_FAKE void md_value_names_free(int n, char **name) { (void)n, (void)name; }

MD_FAKE bool md_particle_values_has(const md_sim *sim, const char *name)
{
  (void)sim, (void)name;
  return false;
}

MD_FAKE md_status md_resume_measure(md_sim *sim, md_status (*measure)(void *context, double *value),
                                    void *context, double *value)
{
  (void)sim;
  return measure(context, value);
}

#endif
