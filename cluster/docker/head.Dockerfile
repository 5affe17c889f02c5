# The head of a cluster: reads sources, starts jobs, writes data sets. No compilers.
#
#   docker build -f cluster/docker/head.Dockerfile -t registry.example.com/cass-ray/head:0.1.0 .

FROM python:3.11-slim-bookworm

# git clones repository sources; rsync and ssh are for Ray's autoscaler, which sets up the workers.
RUN apt-get update \
    && apt-get install -y --no-install-recommends git openssh-client rsync \
    && rm -rf /var/lib/apt/lists/*

# What the autoscaler of the cloud needs: boto3 for AWS; empty on Kubernetes.
ARG PROVIDER_PACKAGES=boto3

WORKDIR /opt/cass-ray
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY release release
COPY docs/glossary.md docs/glossary.md
COPY cass_ray cass_ray
COPY actors actors
COPY cluster cluster
COPY jobs jobs
COPY serve serve
RUN pip install --no-cache-dir --constraint constraints.txt --editable ".[serve]" ${PROVIDER_PACKAGES}

RUN useradd --create-home --uid 1000 ray \
    && install --directory --owner=ray /var/cache/cass-ray /data
USER 1000
ENV CASS_CACHE=/var/cache/cass-ray
CMD ["bash"]
