"""What a row passes before it is compiled: filters, licenses, scrub, decontamination, selection."""
