"""Translation engines beside the rules: chat endpoints, trained models, HIPIFY; the registry."""
