"""The figures by which runs are judged and compared: one file a metric, one place that lists them."""
