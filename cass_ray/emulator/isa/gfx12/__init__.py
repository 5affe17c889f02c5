"""RDNA4: gfx1200 and gfx1201."""
