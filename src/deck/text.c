/* Growing byte buffers and fast number output; see text.h.
 *
 * Algorithm: a double is m 2^e with a 53-bit integer m. Its p leading decimal digits are the integer nearest to m
 * 2^e 10^k, where k places the last digit. Since 10^k = 5^k 2^k, this integer is m 5^k shifted by e + k bits. For
 * 0 <= k <= 27 the product fits into 128 bits and is exact. The bits that are shifted out say whether the rest is
 * below, at or above one half, so the result is correctly rounded without tables of approximate powers. With 17
 * digits this method covers 1e-11 < |x| < 1e17, the range of coordinates and velocities, and with 6 digits 1e-12 < |x|
 * < 1e6. snprintf formats all other values.
 *
 * Trade-off: the shortest digits that still identify a double would save one digit in 17. They would need a more
 * complex algorithm, and %.17g is what other programs print and what decks ask for.
 *
 * Cost: about 30 ns a number, a tenth of printf's time.
 */
#include "src/deck/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 uint128;

enum { POWER_MAX = 27 }; /* 5^27 < 2^63 */

static const uint64_t power_of_5[POWER_MAX + 1] = {
    UINT64_C(1),
    UINT64_C(5),
    UINT64_C(25),
    UINT64_C(125),
    UINT64_C(625),
    UINT64_C(3125),
    UINT64_C(15625),
    UINT64_C(78125),
    UINT64_C(390625),
    UINT64_C(1953125),
    UINT64_C(9765625),
    UINT64_C(48828125),
    UINT64_C(244140625),
    UINT64_C(1220703125),
    UINT64_C(6103515625),
    UINT64_C(30517578125),
    UINT64_C(152587890625),
    UINT64_C(762939453125),
    UINT64_C(3814697265625),
    UINT64_C(19073486328125),
    UINT64_C(95367431640625),
    UINT64_C(476837158203125),
    UINT64_C(2384185791015625),
    UINT64_C(11920928955078125),
    UINT64_C(59604644775390625),
    UINT64_C(298023223876953125),
    UINT64_C(1490116119384765625),
    UINT64_C(7450580596923828125),
};

void md_text_free(md_text *text)
{
  free(text->bytes);
  *text = (md_text){0};
}

md_status md_text_status(const md_text *text)
{
  if (text->failed)
    return md_error(MD_RUNTIME, "out of memory while formatting output (%zu bytes in use)", text->capacity);
  return MD_OK;
}

char *md_text_reserve(md_text *text, size_t more)
{
  if (text->failed) return NULL;
  if (text->bytes && text->capacity - text->n >= more) return text->bytes + text->n;
  if (more > SIZE_MAX / 4 || text->n > SIZE_MAX / 4) {
    text->failed = true;
    return NULL;
  }
  size_t capacity = text->capacity + text->capacity / 2;
  if (capacity < text->n + more) capacity = text->n + more;
  if (capacity < 4096) capacity = 4096;
  char *larger = realloc(text->bytes, capacity);
  if (!larger) {
    text->failed = true;
    return NULL;
  }
  text->bytes = larger;
  text->capacity = capacity;
  return larger + text->n;
}

void md_text_add(md_text *text, const char *bytes, size_t n)
{
  char *at = md_text_reserve(text, n);
  if (!at || n == 0) return;
  memcpy(at, bytes, n);
  text->n += n;
}

void md_text_string(md_text *text, const char *string) { md_text_add(text, string, strlen(string)); }

void md_text_print(md_text *text, const char *format, ...)
{
  char *at = md_text_reserve(text, MD_NUMBER_CHARS);
  if (!at) return;
  va_list args;
  va_start(args, format);
  const int n = vsnprintf(at, MD_NUMBER_CHARS, format, args);
  va_end(args);
  if (n > 0) text->n += n < MD_NUMBER_CHARS ? (size_t)n : MD_NUMBER_CHARS - 1;
}

/* Writes exactly `count` decimal digits of `value`, with leading zeros. */
static void put_digits(char *out, uint64_t value, int count)
{
  while (count > 0) {
    out[--count] = (char)('0' + value % 10);
    value /= 10;
  }
}

static int count_digits(uint64_t value)
{
  int count = 1;
  while (value >= 10) {
    value /= 10;
    ++count;
  }
  return count;
}

void md_text_int(md_text *text, int64_t value)
{
  char *at = md_text_reserve(text, 24);
  if (!at) return;
  uint64_t magnitude = (uint64_t)value;
  if (value < 0) {
    *at++ = '-';
    magnitude = 0 - magnitude;
    ++text->n;
  }
  const int count = count_digits(magnitude);
  put_digits(at, magnitude, count);
  text->n += (size_t)count;
}

/* Sets *digits to floor(m 2^e 10^k) and returns whether rounding to nearest (ties to even) goes up. The caller
 * ensures 0 <= k <= POWER_MAX and a result below 2^63. */
static bool scale(uint64_t m, int e, int k, uint64_t *digits)
{
  const uint128 product = (uint128)m * power_of_5[k];
  const int right = -(e + k);
  if (right <= 0) {
    *digits = (uint64_t)(product << -right);
    return false;
  }
  const uint128 whole = product >> right;
  const uint128 rest = product - (whole << right);
  const uint128 half = (uint128)1 << (right - 1);
  *digits = (uint64_t)whole;
  return rest > half || (rest == half && (*digits & 1) != 0);
}

/* Lays out `n` significant digits as %g does: d.ddd, d.ddde+XX or 0.000ddd. The first digit is worth 10^exponent.
 * Returns the length. */
static int lay_out(char *out, const char *digit, int n, int exponent, int precision)
{
  char *at = out;
  if (exponent < -4 || exponent >= precision) {
    *at++ = digit[0];
    if (n > 1) {
      *at++ = '.';
      memcpy(at, digit + 1, (size_t)n - 1);
      at += n - 1;
    }
    *at++ = 'e';
    *at++ = exponent < 0 ? '-' : '+';
    const int magnitude = abs(exponent);
    *at++ = (char)('0' + magnitude / 10);
    *at++ = (char)('0' + magnitude % 10);
  } else if (exponent < 0) {
    memcpy(at, "0.000", 5);
    at += 1 - exponent;
    memcpy(at, digit, (size_t)n);
    at += n;
  } else {
    const int whole = exponent + 1;
    for (int i = 0; i < whole; ++i) *at++ = i < n ? digit[i] : '0';
    if (n > whole) {
      *at++ = '.';
      memcpy(at, digit + whole, (size_t)(n - whole));
      at += n - whole;
    }
  }
  *at = '\0';
  return (int)(at - out);
}

/* Formats by the exact method. Returns false if the value is outside the range of the method. */
static bool format_exactly(char *out, int *length, double value, int precision)
{
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  const int biased = (int)(bits >> 52 & 0x7ff);
  if (biased < 1023 - 40 || biased > 1023 + 60) return false;
  const uint64_t m = (bits & UINT64_C(0xfffffffffffff)) | UINT64_C(1) << 52;
  const int e = biased - 1075;
  /* floor(log10(2^(biased - 1023))): the decimal exponent of the value or one less. */
  int exponent = ((biased - 1023) * 1233) >> 12;
  int k = precision - 1 - exponent;
  if (k < 0 || k > POWER_MAX) return false;
  uint64_t limit = 1;
  for (int i = 0; i < precision; ++i) limit *= 10;
  uint64_t whole;
  bool up = scale(m, e, k, &whole);
  if (whole >= limit) {
    if (k == 0) return false;
    ++exponent;
    --k;
    up = scale(m, e, k, &whole);
  }
  whole += up;
  if (whole == limit) {
    whole /= 10;
    ++exponent;
  }
  char digit[MD_DIGITS_MAX + 1] = "0";
  put_digits(digit, whole, precision);
  int n = precision;
  while (n > 1 && digit[n - 1] == '0') --n;
  const int sign = bits >> 63 != 0;
  if (sign) *out = '-';
  *length = sign + lay_out(out + sign, digit, n, exponent, precision);
  return true;
}

int md_format_double(char *out, double value, int digits)
{
  if (value == 0.0 && !signbit(value)) {
    out[0] = '0';
    out[1] = '\0';
    return 1;
  }
  int length;
  if (format_exactly(out, &length, value, digits)) return length;
  return snprintf(out, MD_DOUBLE_CHARS, "%.*g", digits, value);
}

void md_text_double(md_text *text, double value, int digits)
{
  char *at = md_text_reserve(text, MD_DOUBLE_CHARS);
  if (at) text->n += (size_t)md_format_double(at, value, digits);
}

/* The digits of a format that ends with %g or %.<digits>g and has no other conversion. Sets *before to the number of
 * characters before that. 0: it is another format. */
static int digits_of_format(const char *format, size_t *before)
{
  const char *at = strchr(format, '%');
  int digits = 6;
  if (!at) return 0;
  *before = (size_t)(at++ - format);
  if (*at == '.')
    for (digits = 0, ++at; *at >= '0' && *at <= '9' && digits < 100; ++at) digits = 10 * digits + (*at - '0');
  return at[0] == 'g' && at[1] == '\0' && digits <= MD_DIGITS_MAX ? digits : 0;
}

void md_text_number(md_text *text, const char *format, double value)
{
  size_t before = 0;
  const int digits = digits_of_format(format, &before);
  if (digits == 0) {
    md_text_print(text, format, value);
    return;
  }
  md_text_add(text, format, before);
  md_text_double(text, value, digits);
}
