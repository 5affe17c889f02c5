"""Training of translation models: examples, packing, model, engines, trainer, checkpoints, export.

Knows nothing of Ray: ``actors.training`` starts a :class:`cass_ray.train.trainer.Trainer` on every
worker of a Ray Train job, ``jobs.train`` starts the job. torch, transformers and DeepSpeed come
with ``pip install cass-ray[train]`` and are imported only where they are used.
"""
