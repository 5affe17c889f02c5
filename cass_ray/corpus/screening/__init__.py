"""What a row passes before it is compiled: filters, licences, scrub, decontamination, selection."""
