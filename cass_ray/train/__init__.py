"""Training of translation models: examples, packing, model, engines, loop, checkpoints, export.

Knows nothing of Ray: ``actors.training`` starts one :class:`cass_ray.train.trainer.Loop` on every
worker of a Ray Train job, ``jobs.train`` starts the job. torch, transformers and DeepSpeed come
with ``pip install cass-ray[train]`` and are imported only where they are used.
"""
