# The head of a cluster: reads sources, starts jobs, writes data sets. No compilers.
#
#   docker build -f cluster/docker/head.Dockerfile -t registry.example.com/cass-ray/head:0.1.0 .

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
# What the autoscaler of the cloud needs: boto3 for AWS; empty on Kubernetes.
ARG PROVIDER_PACKAGES=boto3
RUN python -m venv /opt/venv \
    && /opt/venv/bin/pip install --no-cache-dir --constraint constraints.txt \
        --editable ".[serve,bench,s3]" ${PROVIDER_PACKAGES}

FROM python:3.11.13-slim-bookworm

# git clones repository sources; rsync and ssh are for Ray's autoscaler, which sets up the workers.
# Debian replaces the versions of a release, so that a build which named them would soon fail.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends git openssh-client rsync \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home --uid 1000 ray \
    && install --directory --owner=ray /var/cache/cass-ray /data

COPY --from=build /opt/venv /opt/venv
COPY --from=build /opt/cass-ray /opt/cass-ray
WORKDIR /opt/cass-ray
ENV PATH=/opt/venv/bin:$PATH \
    CASS_CACHE=/var/cache/cass-ray
# By number: Kubernetes cannot tell from a name that it is not root.
USER 1000
CMD ["bash"]
