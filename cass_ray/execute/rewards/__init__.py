"""Execution as reward: is this answer a port of that program?"""
