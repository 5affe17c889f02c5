"""What a data set holds, in figures: computed part by part, shown as a report."""
