"""The figures of the papers on A-ToPSS: uncertainty in subscriptions and publications."""
