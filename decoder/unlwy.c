/* SPDX-License-Identifier: BSD-3-Clause
 * unlwy: a .lwy stream to a .npy file, or to a raw file if OUT has another name.
 *
 *   cc -O3 unlwy.c -o unlwy && ./unlwy field.lwy field.npy */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define LEEWAY_DECODE_IMPLEMENTATION
#include "leeway_decode.h"

static void* read_file(const char* path, size_t* size) {
  FILE* file = fopen(path, "rb");
  char* bytes = NULL;
  size_t room = 0;
  *size = 0;
  while (file && !feof(file) && !ferror(file)) {
    if (*size == room) bytes = (char*)realloc(bytes, room = 2 * room + 65536);
    if (!bytes) break;
    *size += fread(bytes + *size, 1, room - *size, file);
  }
  if (file) fclose(file);
  return bytes;
}

/* NumPy's header: type, order, shape; 64 bytes aligned. bf16, which NumPy lacks, as two bytes. */
static void put_npy_head(FILE* out, const lwy_info* info) {
  static const char* const types[] = {"",   "f4", "f8", "f2", "V2", "i1", "i2",
                                      "i4", "i8", "u1", "u2", "u4", "u8"};
  const uint16_t one = 1;
  char text[256];
  int n = sprintf(text, "{'descr': '%c%s', 'fortran_order': False, 'shape': (",
                  *(const char*)&one ? '<' : '>', types[info->dtype]);
  for (int k = 0; k < info->rank; ++k)
    n += sprintf(text + n, "%llu,", (unsigned long long)info->shape[k]);
  n += sprintf(text + n, ")}");
  const int size = (10 + n + 1 + 63) / 64 * 64 - 10;
  fprintf(out, "\x93NUMPY%c%c%c%c%*s\n", 1, 0, size % 256, size / 256, -(size - 1), text);
}

int main(int count, char** arguments) {
  size_t size;
  if (count != 3) return fprintf(stderr, "usage: unlwy IN.lwy OUT.npy|OUT\n"), 2;
  void* bytes = read_file(arguments[1], &size);
  if (!bytes) return fprintf(stderr, "unlwy: %s cannot be read\n", arguments[1]), 1;
  lwy_stream stream;
  void* values = NULL;
  int status = lwy_open(&stream, bytes, size, NULL);
  if (status == LWY_OK && !(values = malloc((size_t)stream.info.bytes + 1)))
    return fprintf(stderr, "unlwy: not enough memory\n"), 1;
  if (status == LWY_OK) status = lwy_decode(&stream, values, (size_t)stream.info.bytes);
  if (status != LWY_OK) return fprintf(stderr, "unlwy: %s\n", lwy_message(&stream)), 1;
  FILE* out = fopen(arguments[2], "wb");
  const size_t name = strlen(arguments[2]);
  if (out && name > 4 && strcmp(arguments[2] + name - 4, ".npy") == 0)
    put_npy_head(out, &stream.info);
  if (!out || fwrite(values, 1, (size_t)stream.info.bytes, out) != stream.info.bytes || fclose(out))
    return fprintf(stderr, "unlwy: %s cannot be written\n", arguments[2]), 1;
  return 0;
}
