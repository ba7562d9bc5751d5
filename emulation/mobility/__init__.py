"""Mobility models: one module per model, all with straight legs at constant speed."""
