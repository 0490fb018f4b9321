/* Lists of names in messages. */
#ifndef MD_COMMON_BASE_NAME_LIST_H
#define MD_COMMON_BASE_NAME_LIST_H

#include <stddef.h>

/* Adds a name to the list `text` of `size` bytes, which is "" at first, with the separator between two names. A list
 * that has no room for the name ends in "...", and stays so. */
void md_name_list_add(char *text, size_t size, const char *separator, const char *name);

#endif
