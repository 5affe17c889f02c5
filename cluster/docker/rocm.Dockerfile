# A node that offers `amd`: ROCm with its own clang, headers, device libraries and HIP runtime.
#
#   docker build -f cluster/docker/rocm.Dockerfile -t registry.example.com/cass-ray/rocm:0.1.0 .
#
# Compiling needs no GPU. To execute, run it with `--device=/dev/kfd --device=/dev/dri
# --group-add=video --group-add=render`. The sandbox around compilers needs `--security-opt
# seccomp=unconfined --security-opt apparmor=unconfined`; the one around programs a /proc of its own
# as well, which the kernel allows where nothing of the container's is hidden: `--security-opt
# systempaths=unconfined`.

ARG ROCM=rocm/dev-ubuntu-24.04:6.4.4-complete

FROM python:3.11.13-slim-bookworm AS build

WORKDIR /opt/cass-ray
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY release release
COPY docs/glossary.md docs/glossary.md
COPY cass_ray cass_ray
COPY actors actors
COPY cluster cluster
COPY jobs jobs
COPY serve serve
RUN python -m venv /opt/venv \
    && /opt/venv/bin/pip install --no-cache-dir --constraint constraints.txt --editable ".[serve,s3]"

FROM ${ROCM}

# Ubuntu replaces the versions of a release, so that a build which named them would soon fail. Its
# images have a user of that number already.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends \
        bubblewrap g++ git libexpat1 libffi8 libsqlite3-0 libssl3t64 \
    && rm -rf /var/lib/apt/lists/* \
    && (userdel --remove ubuntu || true) \
    && useradd --create-home --uid 1000 ray \
    && install --directory --owner=ray /var/cache/cass-ray /data

# Ray wants one version of Python on all nodes, and the distribution's is another: take that of the
# other images. It needs nothing newer than the C library here; its other libraries come from apt.
COPY --from=build /usr/local /usr/local
RUN ldconfig && python3.11 -c "import ctypes, sqlite3, ssl"

COPY --from=build /opt/venv /opt/venv
COPY --from=build /opt/cass-ray /opt/cass-ray
WORKDIR /opt/cass-ray
ENV PATH=/opt/venv/bin:$PATH \
    CASS_CACHE=/var/cache/cass-ray \
    ROCM_PATH=/opt/rocm
# By number: Kubernetes cannot tell from a name that it is not root.
USER 1000
# What is compiled on first use: the emulator and its HIP runtime.
RUN python -m cass_ray.emulator.build
CMD ["bash"]
