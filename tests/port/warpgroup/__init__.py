"""Programs that multiply matrices by warpgroups (PTX: ``wgmma``), with what they must give.

``forms`` names instructions, ``cases`` what they are given, ``program`` writes both as CUDA, and
``reference`` says what comes out.
"""
