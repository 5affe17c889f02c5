"""The report's sections: each makes one from what was collected."""
