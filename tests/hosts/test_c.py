# SPDX-License-Identifier: BSD-3-Clause
"""A C program writes a field and its stream; other processes check them, and it reads what Python wrote."""
import leeway
import numpy as np

from conftest import BUILD, ROOT
from hosts.field import check

PROGRAM = """
#include <leeway/leeway.h>
#include <math.h>
#include <stdio.h>

static float field[20][48][64];

static int fail(const char* what) { return fprintf(stderr, "%s\\n", what), 1; }

int main(int argc, char** argv) {
  const uint64_t shape[] = {20, 48, 64};
  leeway_context* leeway = leeway_create();
  leeway_array array = {field, LEEWAY_F32, 3, shape, NULL};
  if (argc > 1) { /* read a stream */
    static char bytes[1 << 20];
    FILE* in = fopen(argv[1], "rb");
    const size_t size = fread(bytes, 1, sizeof bytes, in);
    if (leeway_decompress(leeway, bytes, size, &array) != LEEWAY_OK) return fail(leeway_message(leeway));
    FILE* out = fopen("back.raw", "wb");
    return fwrite(field, sizeof field, 1, out) != 1 || fclose(out);
  }
  for (int i = 0; i < 20; ++i)
    for (int j = 0; j < 48; ++j)
      for (int k = 0; k < 64; ++k) field[i][j][k] = sinf(0.1f * i) * cosf(0.07f * j) + 0.05f * k;
  field[1][2][3] = NAN;
  field[4][5][6] = INFINITY;
  field[7][8][9] = -999;
  leeway_set_bound(leeway, "abs", 1e-3);
  leeway_add_fill(leeway, -999);
  leeway_buffer* stream = NULL;
  if (leeway_compress(leeway, &array, &stream) != LEEWAY_OK) return fail(leeway_message(leeway));
  FILE* out = fopen("field.lwy", "wb");
  fwrite(leeway_buffer_data(stream), leeway_buffer_size(stream), 1, out);
  fclose(out);
  out = fopen("field.raw", "wb");
  fwrite(field, sizeof field, 1, out);
  fclose(out);
  leeway_buffer_free(stream);
  leeway_destroy(leeway);
  return 0;
}
"""


def test_c_writes_and_reads(shell):
    (shell.folder / "program.c").write_text(PROGRAM)
    shell("cc", "-Wall", "-Werror", "program.c", "-I", ROOT, f"-L{BUILD}/lib", "-lleeway", "-lm", f"-Wl,-rpath,{BUILD}/lib", "-o", "program")
    shell("./program")
    field = np.fromfile(shell.folder / "field.raw", "f4").reshape(20, 48, 64)
    decoded = leeway.decompress(shell.folder / "field.lwy")
    check(decoded, field, 1e-3)
    assert decoded[7, 8, 9] == -999 and leeway.verify(shell.folder / "field.lwy", field)
    shell(BUILD / "leeway", "verify", "field.lwy", "--against", "field.raw", "--shape", "20x48x64", "--dtype", "f32")
    (shell.folder / "python.lwy").write_bytes(leeway.compress(field, abs=1e-2, recipe="small"))
    shell("./program", "python.lwy")
    check(np.fromfile(shell.folder / "back.raw", "f4").reshape(20, 48, 64), field, 1e-2)
    assert "not a leeway stream" in shell("./program", "field.raw", fails=True)
