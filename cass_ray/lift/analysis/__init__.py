"""What is learned of SASS before it is lowered: live registers, waits, frames, parting warps."""
