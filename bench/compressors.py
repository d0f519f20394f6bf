# SPDX-License-Identifier: BSD-3-Clause
"""The compressors that bench/peers.py compares, each with what its authors recommend for the purpose; one small function each.

A function imports what it needs and returns a Coder: encode(field, bound) gives the stream and its size in bytes, and
decode(stream, field) the values. Streams are whatever decode needs. What a compressor cannot do it says by an exception,
which becomes a row of the table.
"""
import io
import math
import pathlib
from dataclasses import dataclass
from typing import Any, Callable, NamedTuple, Optional, Tuple

import numpy as np


@dataclass
class Field:
    """An array, and which of its values mean something."""

    name: str
    array: np.ndarray
    fill: Optional[float] = None  #: this value means "nothing here", as NaN always does
    domain: str = ""  #: such as "climate"; empty: not known

    def __post_init__(self):
        missing = ~np.isfinite(self.array)
        if self.fill is not None:
            missing |= self.array == self.array.dtype.type(self.fill)
        self.missing = missing if missing.any() else None
        valid = self.array[~missing]
        self.range = float(valid.max()) - float(valid.min())
        self.peak = float(np.abs(valid).max())
        self.mean = float(valid.mean(dtype=np.float64))

    def replaced(self, value):
        """The array with another value where something is missing."""
        return self.array if self.missing is None else np.where(self.missing, self.array.dtype.type(value), self.array)

    def slices(self, values=None):
        """The same as a stack of images: the last two axes, and all others as one."""
        values = self.array if values is None else values
        if values.ndim < 2:
            raise ValueError("needs at least two axes")
        return values.reshape((-1,) + values.shape[-2:])


class Coder(NamedTuple):
    encode: Callable[[Field, float], Any]
    decode: Callable[[Any, Field], np.ndarray]
    #: For a given PSNR: as encode, but free of the largest error. Larger numbers mean more error here, too.
    encode_freely: Optional[Callable[[Field, float], Any]] = None
    #: For a given number of bits a value.
    encode_at: Optional[Callable[[Field, float], Any]] = None


def usual_psnr(field, bound):
    """The PSNR if errors up to a bound are all equally likely."""
    return 20 * math.log10(math.sqrt(3) * field.range / bound)


def leeway(recipe):
    import leeway

    options = {} if recipe == "default" else {"recipe": recipe}
    options |= {"threads": 1}

    def write(field, **limit):
        stream = leeway.compress(field.array, fill=() if field.fill is None else field.fill, **limit, **options)
        return stream, len(stream)

    return Coder(lambda field, bound: write(field, lossless=True) if bound is None else write(field, abs=bound),
                 lambda stream, field: leeway.decompress(stream, threads=1),
                 lambda field, bound: write(field, psnr=usual_psnr(field, bound)))


def sz3(algorithm):
    import pysz

    def encode(field, bound):
        config = pysz.szConfig()
        config.cmprAlgo = getattr(pysz.szAlgorithm, algorithm)
        config.errorBoundMode, config.absErrorBound = pysz.szErrorBoundMode.ABS, bound
        stream = pysz.sz.compress(field.array, config)[0]
        return stream, stream.nbytes

    return Coder(encode, lambda stream, field: pysz.sz.decompress(stream, field.array.dtype.type, field.array.shape)[0])


def zfp():
    import zfpy

    def encode(field, bound):
        stream = zfpy.compress_numpy(field.replaced(field.mean), tolerance=bound)
        return stream, len(stream)

    return Coder(encode, lambda stream, field: zfpy.decompress_numpy(stream))


def sperr():
    """Through its HDF5 filter. `swap` says that the last axis is the fastest. Volumes and single images are tried, and the smaller
    is taken: neither is always better. This is done once a decade of bounds, so that it does not count in the time of later passes."""
    import h5py
    import hdf5plugin

    better = {}

    def write(values, depth, target):
        file = io.BytesIO()
        with h5py.File(file, "w") as out:
            out.create_dataset("x", data=values, chunks=(depth,) + values.shape[1:], **hdf5plugin.Sperr(**target, swap=True))
            size = out["x"].id.get_storage_size()
        return file, size

    def encode(field, bound, target):
        values = field.slices(field.replaced(field.mean))
        decade = round(math.log10(field.range / bound))
        if decade not in better:
            depths = {1, field.array.shape[-3] if field.array.ndim > 2 else 1}
            better[decade] = min(depths, key=lambda depth: write(values, depth, target)[1])
        return write(values, better[decade], target)

    def decode(file, field):
        with h5py.File(file, "r") as content:
            return content["x"][...].reshape(field.array.shape)

    return Coder(lambda field, bound: encode(field, bound, {"absolute": bound}), decode,
                 lambda field, bound: encode(field, bound, {"peak_signal_to_noise_ratio": usual_psnr(field, bound)}),
                 lambda field, bits: write(field.slices(field.replaced(field.mean)), field.slices().shape[0], {"rate": bits}))


def ebcc():
    """Its search begins at a ratio of 10: from the default of 100 it exceeds tight bounds by far more."""
    from numcodecs_wasm_ebcc import Ebcc

    def write(codec, field):
        stream = np.asarray(codec.encode(field.slices(field.replaced(field.mean))))
        return (codec, stream), stream.nbytes

    def read(stream, field):
        codec, content = stream
        return np.asarray(codec.decode(content)).reshape(field.array.shape)

    return Coder(lambda field, bound: write(Ebcc(residual="absolute", error=bound, base_cr=10.0), field), read,
                 lambda field, bound: write(Ebcc(residual="jpeg2000-only", base_cr=max(1.0, 4e3 * bound / field.range)), field))


def grib(packing):
    """A message for every image. Values are counted in steps of twice the bound: the decimal and binary scale of a message together
    come as near to any step as one likes, but the library does not let one choose both."""
    import eccodes

    absent = 1e20  # the library compares with it exactly

    def message(image, missing):
        handle = eccodes.codes_grib_new_from_samples("GRIB2")
        try:
            for key, value in {"Ni": image.shape[1], "Nj": image.shape[0], "packingType": packing}.items():
                eccodes.codes_set(handle, key, value)
            valid = image[~missing]
            if valid.size < image.size:
                eccodes.codes_set(handle, "missingValue", absent)
                eccodes.codes_set(handle, "bitmapPresent", 1)
            span = float(np.ptp(valid)) if valid.size else 0.0
            eccodes.codes_set(handle, "bitsPerValue", max(1, math.ceil(math.log2(span + 1))))
            eccodes.codes_set_values(handle, np.where(missing, absent, image).ravel())
            return eccodes.codes_get_message(handle)
        finally:
            eccodes.codes_release(handle)

    def encode(field, bound):
        images = field.slices().astype(np.float64) / (2 * bound)
        missing = field.slices(np.zeros_like(field.array, bool) if field.missing is None else field.missing)
        messages = [message(image, gone) for image, gone in zip(images, missing)]
        return (messages, 2 * bound), sum(map(len, messages))

    def decode(stream, field):
        messages, step = stream
        images = np.empty_like(field.slices())
        for image, content in zip(images, messages):
            handle = eccodes.codes_new_from_message(content)
            image[...] = (eccodes.codes_get_values(handle) * step).reshape(image.shape)
            eccodes.codes_release(handle)
        return images.reshape(field.array.shape)

    return Coder(encode, decode)


def lerc():
    import lerc as library

    def encode(field, bound):
        images = np.ascontiguousarray(field.slices(field.replaced(field.mean)))
        valid = None if field.missing is None else ~field.slices(field.missing)
        result, size, stream = library.encode(images, 1, valid is not None, valid, bound, images.nbytes + (1 << 20))
        if result:
            raise RuntimeError(f"error {result}")
        return stream[:size], size

    def decode(stream, field):
        result, values, _ = library.decode(stream)
        if result:
            raise RuntimeError(f"error {result}")
        return values.reshape(field.array.shape)

    return Coder(encode, decode)


def om():
    """Open-Meteo's files, whole images as chunks."""
    import os
    import tempfile

    import omfiles

    def encode(field, bound):
        values = field.replaced(np.nan)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "field.om")
            writer = omfiles.OmFileWriter(path)
            chunk = [1] * (values.ndim - 2) + list(values.shape[-2:])
            writer.close(writer.write_array(values, chunk, scale_factor=0.5 / bound, compression="pfor_delta_2d", name="x"))
            with open(path, "rb") as file:
                stream = file.read()
        return stream, len(stream)

    def decode(stream, field):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "field.om")
            with open(path, "wb") as file:
                file.write(stream)
            return omfiles.OmFileReader(path)[...]

    return Coder(encode, decode)


def mdz():
    """Coordinates of atoms, a row for every frame. Compresses and decompresses in one go; bench/mdz.py builds it."""
    import ctypes

    library = ctypes.CDLL(str(pathlib.Path(__file__).resolve().parent.parent / "build/libmdz.so"))
    values = np.ctypeslib.ndpointer(np.float32, 2, flags="C_CONTIGUOUS")
    library.mdz_round_trip.restype = ctypes.c_size_t
    library.mdz_round_trip.argtypes = [values, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_double, values]

    def encode(field, bound):
        back = np.empty_like(field.array)
        return back, library.mdz_round_trip(field.array, *field.array.shape, bound, back)

    return Coder(encode, lambda back, field: back)


def bitround():
    """What netCDF users do: mantissas rounded such that the largest value meets the bound, bytes shuffled, zstd."""
    import numcodecs

    zstd = numcodecs.Zstd(level=3)

    def encode(field, bound):
        kept = math.ceil(math.floor(math.log2(field.peak)) - 1 - math.log2(bound))
        kept = min(max(kept, 0), np.finfo(field.array.dtype).nmant)
        rounded = numcodecs.BitRound(kept).encode(field.replaced(np.nan))
        stream = zstd.encode(numcodecs.Shuffle(field.array.itemsize).encode(rounded))
        return stream, len(stream)

    def decode(stream, field):
        values = numcodecs.Shuffle(field.array.itemsize).decode(zstd.decode(stream))
        return np.frombuffer(values, field.array.dtype).reshape(field.array.shape)

    return Coder(encode, decode)


def pcodec():
    from pcodec import ChunkConfig, standalone

    def encode(field, _):
        stream = standalone.simple_compress(field.array.ravel(), ChunkConfig())
        return stream, len(stream)

    return Coder(encode, lambda stream, field: standalone.simple_decompress(stream).reshape(field.array.shape))


def shuffle_zstd():
    """What HDF5, netCDF and Zarr users do without loss."""
    import numcodecs

    zstd, shuffle = numcodecs.Zstd(level=3), numcodecs.Shuffle

    def encode(field, _):
        stream = zstd.encode(shuffle(field.array.itemsize).encode(field.array))
        return stream, len(stream)

    def decode(stream, field):
        values = shuffle(field.array.itemsize).decode(zstd.decode(stream))
        return np.frombuffer(values, field.array.dtype).reshape(field.array.shape)

    return Coder(encode, decode)


@dataclass(frozen=True)
class Peer:
    load: Callable[[], Coder]
    package: str  #: that it comes in
    keeps_missing: bool = True  #: whether missing values come back; otherwise they were replaced, and are not compared
    timed: bool = True  #: whether its speed says something: not for WebAssembly, nor if it can only do a round trip
    domains: Tuple[str, ...] = ()  #: made for these, and not tried on anything else; empty: for all
    usual: bool = True  #: whether it takes part when no names are given

    def is_for(self, field):
        return not self.domains or field.domain in ("", *self.domains)


MAPS = ("climate", "weather", "ocean")


LOSSY = {
    "SZ3": Peer(lambda: sz3("INTERP_LORENZO"), "pysz"),
    "SPERR": Peer(sperr, "hdf5plugin", keeps_missing=False),
    "zfp": Peer(zfp, "zfpy", keeps_missing=False),
    "EBCC": Peer(ebcc, "numcodecs-wasm-ebcc", keeps_missing=False, timed=False, domains=MAPS),
    "GRIB2 CCSDS": Peer(lambda: grib("grid_ccsds"), "eccodes", keeps_missing=False, domains=MAPS),
    "GRIB2 JPEG": Peer(lambda: grib("grid_jpeg"), "eccodes", keeps_missing=False, domains=MAPS),
    "LERC": Peer(lerc, "lerc", keeps_missing=False),
    "OM": Peer(om, "omfiles", keeps_missing=False),
    "MDZ": Peer(mdz, "hdf5plugin", timed=False, domains=("molecules",)),
    "bitround+zstd": Peer(bitround, "numcodecs", keeps_missing=False),
    "SZ3-LR": Peer(lambda: sz3("LORENZO_REG"), "pysz", usual=False),
    "SZ3-Interp": Peer(lambda: sz3("INTERP"), "pysz", usual=False),
}

LOSSLESS = {
    "pcodec": Peer(pcodec, "pcodec"),
    "shuffle+zstd": Peer(shuffle_zstd, "numcodecs"),
}


def leeway_peers(recipes):
    return {"leeway" if recipe == "default" else f"leeway {recipe}": Peer(lambda recipe=recipe: leeway(recipe), "leeway")
            for recipe in recipes}
