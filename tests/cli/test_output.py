# SPDX-License-Identifier: BSD-3-Clause
"""What the tool writes: complete or not at all, whatever happens meanwhile."""
import os
import random
import resource
import signal
import stat
import subprocess
import time

import h5py
import netCDF4
import numpy as np
import pytest

from conftest import BUILD

FIELD = "t_64x256x256.f32"
SLOW = ["--abs", "1e-7", "--recipe", "lorenzo+linear+huffman+zstd:level=19", "--threads", "1"]  # takes a second or more


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    folder = tmp_path_factory.mktemp("large")
    subprocess.run([BUILD / "leeway", "sample", "turbulence", "--shape", "64x256x256", "-o", FIELD], cwd=folder, check=True)
    return folder / FIELD


@pytest.fixture
def field(leeway, large):
    os.link(large, leeway.folder / FIELD)
    return FIELD


def names(leeway):
    return {path.name for path in leeway.folder.iterdir()}


def start(leeway, *args, prepare=None, **options):
    return subprocess.Popen([BUILD / "leeway", *args], cwd=leeway.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                            preexec_fn=prepare, **options)


def until(condition, seconds=30):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.002)


def writing(leeway, files=1):
    """Waits for so many unfinished files."""
    until(lambda: sum(".tmp" in name for name in names(leeway)) == files)


def no_core():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


# ---- signals ----

HARMLESS = {signal.SIGCHLD, signal.SIGCONT, signal.SIGURG, signal.SIGWINCH, signal.SIGKILL, signal.SIGSTOP, signal.SIGTSTP,
            signal.SIGTTIN, signal.SIGTTOU, signal.SIGXFSZ}
ENDING = {number for number in signal.valid_signals() if number <= signal.SIGRTMIN or number == signal.SIGRTMAX} - HARMLESS


@pytest.mark.parametrize("number", sorted(ENDING), ids=lambda n: signal.strsignal(n) or str(n))
def test_a_signal_leaves_nothing_behind_and_is_the_exit_status(leeway, field, number):
    # Python itself ignores these two, and so would the tool.
    restore = lambda: (no_core(), [signal.signal(n, signal.SIG_DFL) for n in (signal.SIGPIPE, number)])
    process = start(leeway, "compress", field, *SLOW, "-o", "a.lwy", prepare=restore)
    writing(leeway)
    process.send_signal(number)
    assert process.wait(30) == -number
    assert names(leeway) == {field}


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGINT, signal.SIGUSR1])
def test_signals_that_the_caller_ignores_stay_ignored(leeway, field, number):
    """nohup leeway compress ... &"""
    process = start(leeway, "compress", field, *SLOW, "-o", "a.lwy", prepare=lambda: signal.signal(number, signal.SIG_IGN))
    writing(leeway)
    process.send_signal(number)
    assert process.wait(60) == 0, process.stderr.read()
    assert names(leeway) == {field, "a.lwy"}


@pytest.mark.parametrize("verb", ["compress", "decompress"])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_killed_at_any_moment(leeway, verb, number):
    """The output is the old file, the new one, or none."""
    rng = random.Random(number)
    leeway("sample", "turbulence", "--shape", "40x100x100", "-o", "f_40x100x100.f32")
    leeway("compress", "f_40x100x100.f32", "--abs", "1e-3", "-o", "in.lwy")
    command = {"compress": ["compress", "f_40x100x100.f32", "--abs", "1e-3", "--force", "-o", "out"],
               "decompress": ["decompress", "in.lwy", "--force", "-o", "out"]}[verb]
    begin = time.monotonic()
    leeway(*command)
    took = time.monotonic() - begin
    out, complete = leeway.folder / "out", (leeway.folder / "out").read_bytes()
    seen = set()
    for turn in range(10):
        before = [None, b"old"][turn % 2]
        out.unlink(missing_ok=True)
        if before is not None:
            out.write_bytes(before)
        process = start(leeway, *command)
        time.sleep(rng.uniform(0.2, 1.1) * took)
        process.send_signal(number)
        process.wait(30)
        after = out.read_bytes() if out.exists() else None
        assert after in (before, complete), turn
        seen.add(process.returncode)
        left = [path for path in leeway.folder.iterdir() if ".tmp" in path.name]
        assert number == signal.SIGKILL or left == []
        for path in left:
            path.unlink()
    assert seen <= {0, -number}


def test_a_file_left_by_a_killed_process_is_in_nobodys_way(leeway):
    """The next process may have the same number."""
    leeway("sample", "turbulence", "--shape", "10x10", "-o", "f_10x10.f32")
    script = "import os, sys\nopen(f'a.lwy.tmp{os.getpid()}', 'w').close()\nos.execv(sys.argv[1], sys.argv[1:])"
    done = subprocess.run(["python3", "-c", script, BUILD / "leeway", "compress", "f_10x10.f32", "--abs", "1", "-o", "a.lwy"], cwd=leeway.folder)
    assert done.returncode == 0 and (leeway.folder / "a.lwy").exists()


def test_the_limit_on_the_size_of_files_is_an_error(leeway, field):
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
    process = start(leeway, "compress", field, "--abs", "1e-7", "-o", "a.lwy", prepare=limit)
    assert b"leeway: cannot write 'a.lwy': File too large" in process.communicate()[1] and process.returncode == 1
    leeway("compress", field, "--abs", "1", "-o", "b.lwy")
    process = start(leeway, "decompress", "b.lwy", "-o", "a.npy", prepare=limit)
    assert b"leeway: cannot write 'a.npy': File too large" in process.communicate()[1] and process.returncode == 1
    assert names(leeway) == {field, "b.lwy"}
    values = np.random.default_rng(1).normal(size=(2000, 1000))
    with h5py.File(leeway.folder / "in.h5", "w") as file:
        file["a"] = file["b"] = values
    with netCDF4.Dataset(leeway.folder / "in.nc", "w", format="NETCDF3_CLASSIC") as file:
        file.createDimension("x", values.size)
        file.createVariable("a", "f8", ("x",))[:] = values.ravel()
    for use in [["compress", "in.h5", "--abs", "1e-9", "-o", "out.h5"], ["inspect", "in.nc"]]:
        process = start(leeway, *use, prepare=lambda: (limit(), no_core()), env={**os.environ, "TMPDIR": str(leeway.folder)})
        assert b"cannot write" in process.communicate()[1] and process.returncode == 1
    assert names(leeway) == {field, "b.lwy", "in.h5", "in.nc"}


# ---- inputs that change ----


def until_shorter(leeway, large, size):
    """Compresses a copy that is cut meanwhile; what the tool says."""
    copy = leeway.folder / FIELD
    copy.write_bytes(large.read_bytes())
    process = start(leeway, "compress", FIELD, *SLOW[:-1], "4", "-o", "a.lwy", prepare=no_core)
    writing(leeway)
    os.truncate(copy, size)
    message = process.communicate(timeout=60)[1].decode()
    assert process.returncode == 1, message
    assert names(leeway) == {FIELD}
    return message


def test_an_input_that_becomes_shorter_is_an_error(leeway, large):
    assert until_shorter(leeway, large, 4096) == f"leeway: '{FIELD}' became shorter while it was used, or its disk failed\n"


def test_an_input_that_loses_a_part_of_a_page_is_an_error(leeway, large):
    assert until_shorter(leeway, large, large.stat().st_size - 4) == f"leeway: '{FIELD}' was changed while it was read\n"


def test_an_input_that_is_written_meanwhile_is_an_error(leeway, large):
    copy = leeway.folder / FIELD
    copy.write_bytes(large.read_bytes())
    process = start(leeway, "compress", FIELD, *SLOW, "-o", "a.lwy")
    writing(leeway)
    with open(copy, "r+b") as file:
        file.write(bytes(4))
    assert b"was changed while it was read" in process.communicate(timeout=60)[1] and process.returncode == 1
    assert names(leeway) == {FIELD}


# ---- what is replaced ----


def test_a_replaced_file_keeps_its_mode_and_owner(leeway):
    leeway("sample", "turbulence", "--shape", "10x10", "-o", "f_10x10.f32")
    out = leeway.folder / "a.lwy"
    for mode in [0o600, 0o640, 0o400]:
        out.unlink(missing_ok=True)
        out.write_text("old")
        if os.geteuid() == 0:
            os.chown(out, 12345, 54321)
        out.chmod(mode)
        leeway("compress", "f_10x10.f32", "--abs", "1", "-o", "a.lwy", "--force")
        status = out.stat()
        assert stat.S_IMODE(status.st_mode) == mode
        assert os.geteuid() != 0 or (status.st_uid, status.st_gid) == (12345, 54321)
    mask = os.umask(0o027)
    try:
        leeway("compress", "f_10x10.f32", "--abs", "1", "-o", "new.lwy")
    finally:
        os.umask(mask)
    assert stat.S_IMODE((leeway.folder / "new.lwy").stat().st_mode) == 0o640


def test_symbolic_links_are_followed(leeway):
    leeway("sample", "turbulence", "--shape", "10x10", "-o", "f_10x10.f32")
    (leeway.folder / "disk").mkdir()
    (leeway.folder / "disk/a.lwy").write_text("old")
    for link, to in {"link.lwy": "disk/a.lwy", "again.lwy": "link.lwy", "new.lwy": "disk/b.lwy", "round.lwy": "round.lwy"}.items():
        (leeway.folder / link).symlink_to(to)
    leeway.fails(1, "compress", "f_10x10.f32", "--abs", "1", "-o", "again.lwy")
    leeway("compress", "f_10x10.f32", "--abs", "1", "-o", "again.lwy", "--force")
    leeway("compress", "f_10x10.f32", "--abs", "1", "-o", "new.lwy")  # its target is not there yet
    assert (leeway.folder / "disk/a.lwy").read_bytes() == (leeway.folder / "disk/b.lwy").read_bytes() != b"old"
    assert all((leeway.folder / link).is_symlink() for link in ["link.lwy", "again.lwy", "new.lwy"])
    assert "symbolic links" in leeway.fails(1, "compress", "f_10x10.f32", "--abs", "1", "-o", "round.lwy")


def test_of_two_that_write_one_name_one_is_refused(leeway, field):
    processes = [start(leeway, "compress", field, *SLOW, "-o", "a.lwy") for _ in range(2)]
    writing(leeway, 2)
    messages = [process.communicate(timeout=120)[1] for process in processes]
    assert sorted(process.returncode for process in processes) == [0, 1]
    assert b"leeway: 'a.lwy' exists; --force replaces it\n" in messages
    assert names(leeway) == {field, "a.lwy"}


def test_a_name_is_given_when_all_is_on_the_disk(leeway):
    """The order of system calls, as far as the tool can be watched: fsync() before the name, and of the folder behind it."""
    leeway("sample", "turbulence", "--shape", "10x10", "-o", "f_10x10.f32")
    (leeway.folder / "watch.c").write_text("""
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <fcntl.h>
        #include <stdarg.h>
        #include <sys/syscall.h>
        #include <stdio.h>
        #include <sys/stat.h>
        #include <unistd.h>
        #include <errno.h>
        int fsync(int f) { struct stat s; fstat(f, &s); return dprintf(2, S_ISDIR(s.st_mode) ? "folder " : "file "), 0; }
        int rename(const char* a, const char* b) { return dprintf(2, "rename "), renameat(AT_FDCWD, a, AT_FDCWD, b); }
        long syscall(long number, ...) {
            if (number == SYS_renameat2) return dprintf(2, "renameat2 "), errno = EINVAL, -1;
            long a[6];
            va_list rest;
            va_start(rest, number);
            for (int i = 0; i < 6; ++i) a[i] = va_arg(rest, long);
            va_end(rest);
            long (*next)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
            return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
        }
        int link(const char* a, const char* b) { return dprintf(2, "link "), linkat(AT_FDCWD, a, AT_FDCWD, b, 0); }
        """)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", "watch.so", "watch.c"], cwd=leeway.folder, check=True)
    env = {"LD_PRELOAD": str(leeway.folder / "watch.so")}
    # As on a file system that does not know RENAME_NOREPLACE.
    assert leeway.run("compress", "f_10x10.f32", "--abs", "1", "-o", "a.lwy", env=env).stderr == b"file renameat2 link folder "
    assert leeway.run("compress", "f_10x10.f32", "--abs", "1", "-o", "a.lwy", "-f", env=env).stderr == b"file rename folder "
    assert names(leeway) == {"f_10x10.f32", "watch.c", "watch.so", "a.lwy"}


# ---- standard output ----

REPORTS = [["inspect", "a.lwy"], ["inspect", "a.lwy", "--json"], ["inspect", "a.lwy", "--chunks"], ["verify", "a.lwy"], ["verify", "a.lwy", "--json"],
           ["compare", "f_10x10.f32", "a.lwy"], ["compress", "f_10x10.f32", "--abs", "1", "--json", "-fo", "b.lwy"],
           ["compress", "f_10x10.f32", "--abs", "1", "-fo", "b.lwy"], ["decompress", "a.lwy", "-fo", "b.npy"],
           ["decompress", "a.lwy", "-o", "-"], ["recipes"], ["stages", "--json"], ["filter", "--abs", "1"], ["advise", "f_10x10.f32", "--abs", "1"],
           ["bench", "f_10x10.f32", "--abs", "1", "--repeat", "1"], ["sample", "wave", "--shape", "4x4", "-fo", "w.npy"],
           ["update", "a.lwy", "f_10x10.f32", "--region", ":,:"], ["model", "fpga"], ["doctor"], ["--help"], ["compress", "--help"], ["--version"]]


@pytest.mark.parametrize("command", REPORTS, ids=" ".join)
def test_a_report_that_cannot_be_written_is_a_failure(leeway, command):
    leeway("sample", "turbulence", "--shape", "10x10", "-o", "f_10x10.f32")
    leeway("compress", "f_10x10.f32", "--abs", "1", "-o", "a.lwy")
    with open("/dev/full", "w") as full:
        done = subprocess.run([BUILD / "leeway", *command], cwd=leeway.folder, stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 1 and b"No space left" in done.stderr and done.stderr.count(b"\n") == 1, done


def test_standard_files_that_are_closed_or_full(leeway):
    leeway("sample", "turbulence", "--shape", "10x10", "-o", "f_10x10.f32")
    shell = lambda text: subprocess.run(["sh", "-c", text], cwd=leeway.folder, capture_output=True, env={**os.environ, "LEEWAY": str(BUILD / "leeway")})
    leeway("compress", "f_10x10.f32", "--abs", "1", "-o", "whole.lwy")
    # A report must not end up in the stream, which would get the number of standard output.
    done = shell("$LEEWAY compress f_10x10.f32 --abs 1 -o a.lwy >&-")
    assert done.returncode == 1 and b"standard output" in done.stderr
    assert shell("$LEEWAY compress f_10x10.f32 --abs 1 -qo b.lwy >&- 2>&- <&-").returncode == 0
    for name in ["a.lwy", "b.lwy"]:
        assert (leeway.folder / name).read_bytes() == (leeway.folder / "whole.lwy").read_bytes()
    for errors in ["2>/dev/full", "2>&-"]:
        assert shell(f"$LEEWAY inspect nothing.lwy {errors}").returncode == 1
        assert shell(f"$LEEWAY compress {errors}").returncode == 2
