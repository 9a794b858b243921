"""BMX (Leiter et al., 2022): a metric explained word by word, and made better by it."""
