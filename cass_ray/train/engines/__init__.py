"""How weights, gradients and optimizer state are spread over workers: ZeRO 0 to 3."""
