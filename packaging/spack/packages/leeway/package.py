# SPDX-License-Identifier: BSD-3-Clause
from spack.package import *


class Leeway(CMakePackage, CudaPackage):
    """Error-bounded lossy compression of scientific arrays: a library for C, C++ and Fortran, a command line tool, and an
    HDF5 filter plugin."""

    # Until there is a release, a checkout is built: spack dev-build leeway@0.1.0
    homepage = "https://example.org/leeway"

    license("BSD-3-Clause")
    version("0.1.0")

    variant("shared", default=True, description="Build a shared library")
    variant("tools", default=True, description="Build the command line tool")
    variant("hdf5", default=True, description="Build the HDF5 filter and its plugin")
    variant("fortran", default=False, description="Build the Fortran module")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("cmake@3.22:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("zstd@1.4:")
    depends_on("libdeflate@1.0:")
    depends_on("lz4")
    depends_on("xxhash@0.8:")
    depends_on("highway@1.0.3:")
    depends_on("hdf5@1.10: +hl", when="+hdf5")
    depends_on("netcdf-c", when="+tools +hdf5")
    depends_on("cli11@2:", when="+tools")
    depends_on("fmt@9:", when="+tools")
    depends_on("nlohmann-json@3:", when="+tools")
    depends_on("tomlplusplus@3:", when="+tools +hdf5")
    depends_on("cuda@12:", when="+cuda")

    def cmake_args(self):
        gpu = []
        if self.spec.satisfies("+cuda"):
            gpu.append(self.define("LEEWAY_GPU", "CUDA"))
            if not self.spec.satisfies("cuda_arch=none"):
                gpu.append(self.define("CMAKE_CUDA_ARCHITECTURES", ";".join(self.spec.variants["cuda_arch"].value)))
        return gpu + [
            self.define_from_variant("LEEWAY_SHARED", "shared"),
            self.define_from_variant("LEEWAY_TOOLS", "tools"),
            self.define_from_variant("LEEWAY_HDF5", "hdf5"),
            self.define_from_variant("LEEWAY_FORTRAN", "fortran"),
            self.define("LEEWAY_TESTS", False),
            self.define("LEEWAY_HDF5_PLUGIN_DIR", "lib/hdf5/plugins"),
        ]

    def setup_run_environment(self, env):
        if self.spec.satisfies("+hdf5"):
            env.prepend_path("HDF5_PLUGIN_PATH", join_path(self.prefix, "lib", "hdf5", "plugins"))

    def test_doctor(self):
        """the tool finds itself healthy"""
        if self.spec.satisfies("+tools"):
            which(join_path(self.prefix.bin, "leeway"))("doctor")
